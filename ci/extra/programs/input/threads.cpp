// Many threads: new and delete in all forms, exceptions, containers, thread_local objects that free and allocate when their thread ends, and objects
// that end in another thread than the one that made them.
#include <any>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#define REQUIRE(what) \
  do { \
    if (!(what)) { std::fprintf(stderr, "line %d: not so: %s\n", __LINE__, #what); std::abort(); } \
  } while (0)

struct Chance {
  uint64_t state;
  uint64_t below(uint64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % limit;
  }
};

static bool aligned(const void *pointer, std::size_t alignment) { return reinterpret_cast<uintptr_t>(pointer) % alignment == 0; }

// Each form by its name, with sizes from nothing to some pages. The memory is written wholly.
static void forms(Chance &chance) {
  for (int turn = 0; turn < 400; turn++) {
    std::size_t size = turn % 20 == 0 ? chance.below(100000) : chance.below(600);
    std::size_t alignment = std::size_t{1} << (4 + chance.below(13));
    auto a = std::align_val_t{alignment};
    std::array<void *, 12> made = {
      ::operator new(size), ::operator new[](size), ::operator new(size, std::nothrow), ::operator new[](size, std::nothrow),
      ::operator new(size, a), ::operator new[](size, a), ::operator new(size, a, std::nothrow), ::operator new[](size, a, std::nothrow),
      ::operator new(size), ::operator new[](size), ::operator new(size, a), ::operator new[](size, a)};
    for (std::size_t i = 0; i < made.size(); i++) {
      REQUIRE(made[i] && aligned(made[i], (i >= 4 && i < 8) || i >= 10 ? alignment : size >= 16 ? 16 : 8));
      std::memset(made[i], static_cast<int>(i), size);
    }
    for (std::size_t i = 0; i < made.size(); i++)
      for (std::size_t j = 0; j < size; j += 13) REQUIRE(static_cast<unsigned char *>(made[i])[j] == i);
    ::operator delete(made[0]);
    ::operator delete[](made[1]);
    ::operator delete(made[2], std::nothrow);
    ::operator delete[](made[3], std::nothrow);
    ::operator delete(made[4], a);
    ::operator delete[](made[5], a);
    ::operator delete(made[6], a, std::nothrow);
    ::operator delete[](made[7], a, std::nothrow);
    ::operator delete(made[8], size);
    ::operator delete[](made[9], size);
    ::operator delete(made[10], size, a);
    ::operator delete[](made[11], size, a);
  }
  ::operator delete(nullptr);
  ::operator delete[](nullptr, std::align_val_t{64});
}

// What cannot be had throws, or gives a null pointer; before that the handler is asked, as often as it hopes.
static std::atomic<int> asked{0};
static void refusals() {
  volatile std::size_t huge = SIZE_MAX / 2;
  int thrown = 0;
  try { ::operator delete(::operator new(huge)); } catch (const std::bad_alloc &) { thrown++; }
  try { ::operator delete[](::operator new[](huge)); } catch (const std::bad_alloc &) { thrown++; }
  try { ::operator delete(::operator new(huge, std::align_val_t{4096}), std::align_val_t{4096}); } catch (const std::bad_alloc &) { thrown++; }
  REQUIRE(thrown == 3);
  REQUIRE(!::operator new(huge, std::nothrow) && !::operator new[](huge, std::nothrow));
  REQUIRE(!::operator new(huge, std::align_val_t{64}, std::nothrow));
  try { std::vector<char> vector(huge); REQUIRE(false); } catch (const std::exception &) {}
  std::set_new_handler([] { if (++asked == 3) std::set_new_handler(nullptr); });
  try { ::operator delete(::operator new(huge)); REQUIRE(false); } catch (const std::bad_alloc &) {}
  REQUIRE(asked == 3);
  std::set_new_handler([] { throw std::bad_alloc(); });
  REQUIRE(!::operator new(huge, std::nothrow));
  std::set_new_handler(nullptr);
}

struct alignas(128) Wide { std::array<uint64_t, 16> words{}; };

struct Base {
  virtual ~Base() = default;
  virtual uint64_t weight() const = 0;
};
struct Text : Base {
  std::string text;
  explicit Text(std::size_t size) : text(size, 't') {}
  uint64_t weight() const override { return text.size(); }
};
struct Table : Base {
  std::map<int, std::string> map;
  std::unordered_map<std::string, std::vector<int>> lists;
  explicit Table(int size) {
    for (int i = 0; i < size; i++) map[i * 7919 % 101] = std::to_string(i) + " and some more text", lists[std::to_string(i % 17)].push_back(i);
  }
  uint64_t weight() const override {
    uint64_t sum = 0;
    for (auto &[key, text] : map) sum += static_cast<uint64_t>(key) + text.size();
    for (auto &[key, list] : lists) for (int each : list) sum += static_cast<uint64_t>(each);
    return sum;
  }
};
struct Wides : Base {
  std::vector<Wide> wides;
  std::unique_ptr<Wide[]> more;
  explicit Wides(std::size_t size) : wides(size), more(new Wide[size + 1]) {
    for (auto &wide : wides) wide.words.fill(size);
    REQUIRE(aligned(more.get(), 128));
  }
  uint64_t weight() const override { return wides.size() * 3; }
};

// What a thread keeps until it ends. Its destructor frees, and allocates for the last time.
static std::atomic<uint64_t> ended{0};
struct Kept {
  std::list<std::unique_ptr<Base>> objects;
  std::any other = std::string(200, 'o');
  ~Kept() {
    uint64_t sum = 0;
    for (auto &object : objects) sum += object->weight();
    std::string last(sum % 1000 + 100, 'l');
    auto *more = new std::vector<std::string>(20, last);
    ended += more->size() + sum;
    delete more;
  }
};
static thread_local Kept kept;

static std::unique_ptr<Base> make(Chance &chance) {
  switch (chance.below(3)) {
    case 0: return std::make_unique<Text>(chance.below(3000));
    case 1: return std::make_unique<Table>(static_cast<int>(chance.below(60)));
    default: return std::make_unique<Wides>(chance.below(12));
  }
}

static uint64_t deep(Chance &chance, int depth) {
  std::string local(chance.below(500) + 20, 'd');
  std::vector<std::shared_ptr<int>> shared(3, std::make_shared<int>(depth));
  if (depth == 0) throw std::runtime_error("thrown over " + local);
  return deep(chance, depth - 1) + local.size();
}

template <class T> struct Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<T> items;
  bool closed = false;
  void push(T item) {
    { std::lock_guard<std::mutex> lock(mutex); items.push_back(std::move(item)); }
    changed.notify_one();
  }
  void close() {
    { std::lock_guard<std::mutex> lock(mutex); closed = true; }
    changed.notify_all();
  }
  bool pop(T &item) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return closed || !items.empty(); });
    if (items.empty()) return false;
    item = std::move(items.front());
    items.pop_front();
    return true;
  }
};

// Makers send objects to takers: each is freed by another thread than the one that made it.
static void wave(unsigned number) {
  Queue<std::unique_ptr<Base>> queue;
  std::atomic<uint64_t> made{0}, taken{0}, caught{0};
  std::vector<std::thread> makers, takers;
  for (unsigned i = 0; i < 16; i++) {
    makers.emplace_back([&, i] {
      Chance chance{number * 1000 + i};
      for (int turn = 0; turn < 600; turn++) {
        auto object = make(chance);
        made += object->weight();
        queue.push(std::move(object));
        if (turn % 20 == 0) kept.objects.push_back(make(chance));
        if (turn % 50 == 0)
          try { deep(chance, static_cast<int>(chance.below(20))); } catch (const std::exception &error) { caught += std::strlen(error.what()) > 12; }
      }
      forms(chance);
    });
    takers.emplace_back([&] {
      std::unique_ptr<Base> object;
      while (queue.pop(object)) {
        taken += object->weight();
        object.reset();
      }
      std::ostringstream stream;
      for (int i = 0; i < 500; i++) stream << i << ' ' << i * 0.5 << '\n';
      REQUIRE(stream.str().size() > 2000);
    });
  }
  for (auto &thread : makers) thread.join();
  queue.close();
  for (auto &thread : takers) thread.join();
  REQUIRE(made == taken);
  std::printf("wave %u: %llu, caught %llu\n", number, static_cast<unsigned long long>(made), static_cast<unsigned long long>(caught));
}

// Short threads, one after another and many at once; an exception that goes from one thread to another.
static void short_threads() {
  uint64_t sum = 0;
  for (int i = 0; i < 2000; i++) {
    std::string *text = nullptr;
    std::thread([&text, i] { text = new std::string(static_cast<std::size_t>(i % 300), 's'); kept.objects.push_back(std::make_unique<Text>(i % 500)); }).join();
    sum += text->size();
    delete text;
  }
  std::vector<std::future<uint64_t>> futures;
  for (unsigned i = 0; i < 100; i++)
    futures.push_back(std::async(std::launch::async, [i]() -> uint64_t {
      Chance chance{i};
      if (i % 10 == 0) return deep(chance, 10);
      return make(chance)->weight();
    }));
  int thrown = 0;
  for (auto &future : futures)
    try { sum += future.get(); } catch (const std::runtime_error &) { thrown++; }
  REQUIRE(thrown == 10);
  std::printf("short threads: %llu\n", static_cast<unsigned long long>(sum));
}

// Ends after main: a static object, and a function of atexit that allocates.
static std::map<int, std::string> at_end;
struct Last {
  ~Last() {
    at_end[1] = std::string(500, 'e');
    std::printf("end: %zu\n", at_end.size());
  }
} last;

int main(int count, char **) {
  if (count > 1) {
    std::printf("%s\n", std::string(100, 's').c_str());
    return 0;
  }
  std::atexit([] { std::vector<std::string> strings(100, std::string(100, 'a')); std::printf("at exit: %zu\n", strings.size()); });
  Chance chance{1};
  forms(chance);
  refusals();
  for (unsigned number = 0; number < 4; number++) wave(number);
  short_threads();
  std::printf("ended: %llu\n", static_cast<unsigned long long>(ended));
}
