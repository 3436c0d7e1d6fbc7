/* FreeRTOS on the Cortex-M4 of an mps2-an386 board, for the test of adapters/freertos.c. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configCPU_CLOCK_HZ 25000000UL
/* Fast ticks: the tasks are to interrupt each other in the middle of what they do. */
#define configTICK_RATE_HZ 10000
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configMAX_PRIORITIES 4
#define configMINIMAL_STACK_SIZE 256
#define configSTACK_DEPTH_TYPE size_t
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0

#define configSUPPORT_STATIC_ALLOCATION 0
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#ifndef configTOTAL_HEAP_SIZE
#define configTOTAL_HEAP_SIZE ((size_t)(64 * 1024))
#endif
#ifndef configHEAP_CLEAR_MEMORY_ON_FREE
#define configHEAP_CLEAR_MEMORY_ON_FREE 1
#endif
#define configUSE_MALLOC_FAILED_HOOK 0
#define configCHECK_FOR_STACK_OVERFLOW 2

#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskSuspend 1

/* The board's three bits of priority, in the upper bits. */
#define configKERNEL_INTERRUPT_PRIORITY 0xe0
#define configMAX_SYSCALL_INTERRUPT_PRIORITY 0x40

/* The names that picolibc's table of interrupts has for the kernel's three. */
#define vPortSVCHandler arm_svc_isr
#define xPortPendSVHandler arm_pendsv_isr
#define xPortSysTickHandler arm_systick_isr

void assert_failed(const char *file, int line);
#define configASSERT(condition) ((condition) ? (void)0 : assert_failed(__FILE__, __LINE__))

#endif /* FREERTOS_CONFIG_H */
