/* The registers that a stack is unwound from, in the order of DWARF; also read by BPF. */
#ifndef REGISTERS_H
#define REGISTERS_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
enum { REGISTER_BP = 6, REGISTER_SP = 7, REGISTER_IP = 16, REGISTERS };
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
enum { REGISTER_BP = 29, REGISTER_SP = 31, REGISTER_IP, REGISTERS };
#else
#error "only x86_64 and aarch64"
#endif

#endif
