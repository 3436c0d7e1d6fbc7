# Sourced by the scripts that bound the calls of the heaps on a Cortex-M4, in the root of the repository. `folder` is the toolchain, with
# compiler and Arm's binary utilities; `host` is the caller's own CARGO_TARGET_DIR, or empty.
figures=firmware/worst/cortex-m4.csv

# The compiler of the toolchain, and that of the committed figures.
compiler() { "$folder/rustc" --version | cut -d ' ' -f 1,2; }
committed() { sed -n '2s/.*,//p' "$figures"; }

# worst_image FOLDER: builds the image with all calls, as `image`, and lists its instructions in FOLDER/listing.
worst_image() {
  local target=thumbv7em-none-eabihf
  export CARGO_TARGET_THUMBV7EM_NONE_EABIHF_LINKER=$folder/arm-none-eabi-ld
  export CARGO_TARGET_THUMBV7EM_NONE_EABIHF_RUSTFLAGS="-Clinker-flavor=ld "
  # The lines of the source are for the bound; they change no code.
  (cd firmware && CARGO_PROFILE_RELEASE_DEBUG=line-tables-only cargo build --locked --quiet --release -Zbuild-std=core,alloc \
    --target $target --features worst --bin worst)
  image=$CARGO_TARGET_DIR/$target/release/worst
  "$folder/arm-none-eabi-objdump" -d "$image" >"$1/listing"
}

# surefit_bound ARGUMENT…: runs the program of firmware/bound, which is built for this machine with its own compiler.
surefit_bound() {
  local target=(-u CARGO_TARGET_DIR)
  [ -z "$host" ] || target=("CARGO_TARGET_DIR=$host")
  env -u RUSTC -u RUSTC_BOOTSTRAP "${target[@]}" cargo run --locked --quiet --manifest-path firmware/Cargo.toml -p surefit-bound -- "$@"
}

# compare NEW: each figure that is more than 2 % above or below the committed one fails.
compare() {
  awk -F , -v file="$figures" '
    function differs(old, new) { return new + 0 > 1.02 * old || new + 0 < 0.98 * old }
    FNR == 1 { next }
    NR == FNR { instructions[$1 "," $2] = $3; bound[$1 "," $2] = $4; copied[$1 "," $2] = $5; stack[$1 "," $2] = $6; next }
    { name = $1 "," $2; compared[name] = 1 }
    !(name in instructions) { print "FAILED: " name " is not in " file; failed = 1; next }
    differs(instructions[name], $3) { print "FAILED: " name ": " $3 " instructions, " instructions[name] " in " file; failed = 1 }
    differs(bound[name], $4) { print "FAILED: " name ": at most " $4 " instructions, " bound[name] " in " file; failed = 1 }
    differs(copied[name], $5) { print "FAILED: " name ": " $5 " per copied byte, " copied[name] " in " file; failed = 1 }
    differs(stack[name], $6) { print "FAILED: " name ": " $6 " bytes of stack, " stack[name] " in " file; failed = 1 }
    END {
      for (name in instructions) if (!(name in compared)) { print "FAILED: no call of " name; failed = 1 }
      exit failed
    }' "$figures" "$1"
}
