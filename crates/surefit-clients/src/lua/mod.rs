//! A Lua virtual machine in a region.
