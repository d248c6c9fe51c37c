#include <stdio.h>
#include <string.h>

#include "files.h"
#include "finding.h"

#define MIB(bytes) ((double)(bytes) / (1 << 20))

void examine_virtual(struct finding *f) {
    static const char *const names[][2] = {
        {"KVMKVMKVM", "KVM"},    {"Microsoft Hv", "Hyper-V"},   {"VMwareVMware", "VMware"},
        {"XenVMMXenVMM", "Xen"}, {"prl hyperv  ", "Parallels"}, {"bhyve bhyve ", "bhyve"},
        {"ACRNACRNACRN", "ACRN"}};
    char vendor[16];
    if (!host_hypervisor(vendor, sizeof vendor))
        vendor[0] = '\0';
    const char *name = vendor;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(vendor, names[i][0]) == 0)
            name = names[i][1];
    if (strcmp(vendor, "TCGTCGTCGTCG") == 0)
        find(f, WARNING, "figures are those of the emulator, not of a machine",
             "ls -l /dev/kvm  # on the machine that emulates this one", "emulated by QEMU");
    else if (*vendor || host_virtual())
        find(f, NOTE, "waking a halted virtual CPU is dear: spawns with pauses between cost more",
             "forkless bench --filter /gap:0  # no CPU halts between these",
             "a virtual machine (%s)", *vendor ? name : "of unknown make");
    else
#ifdef __x86_64__
        find_good(f, "no hypervisor");
#else
        find(f, UNKNOWN, "spawns with pauses between cost more on virtual CPUs",
             "systemd-detect-virt", "this kind of CPU does not say");
#endif
}

void examine_governor(struct finding *f) {
    static const char follows[] = "the clock follows the load: what runs seldom runs slowly";
    char governor[64];
    if (!host_governor(governor, sizeof governor))
        find(f, UNKNOWN, follows,
             host_virtual() ? "cpupower frequency-info  # on the machine that runs this one"
                            : "cpupower frequency-info",
             "not visible from here");
    else if (strcmp(governor, "performance") == 0)
        find_good(f, "performance");
    else
        find(f, WARNING, follows, "sudo cpupower frequency-set -g performance", "%s", governor);
}

void examine_turbo(struct finding *f) {
    static const char effect[] = "the clock depends on heat and on what the other cores do";
    uint64_t n;
    bool on;
    if (!host_turbo(&on))
        find(f, UNKNOWN, effect,
             host_virtual() ? "cpupower frequency-info  # on the machine that runs this one"
                            : "cpupower frequency-info",
             "not visible from here");
    else if (!on)
        find_good(f, "off");
    else
        find(f, NOTE, effect,
             files_number("/sys/devices/system/cpu/intel_pstate/no_turbo", &n)
                 ? "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
                 : "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
             "on");
}

void examine_thp(struct finding *f) {
    char mode[16];
    if (!host_thp(mode, sizeof mode))
        find(f, UNKNOWN, "fork is cheaper for memory in huge pages",
             "cat /sys/kernel/mm/transparent_hugepage/enabled", "the kernel does not say");
    else if (strcmp(mode, "always") == 0)
        find(f, NOTE, "fork costs your programs less than the figures for 4 KiB pages say",
             "forkless doctor -p PID  # how much of a process is in huge pages", "always");
    else
        find_good(f, "%s", mode);
}

void examine_overcommit(struct finding *f) {
    uint64_t mode;
    if (!host_overcommit(&mode))
        find(f, UNKNOWN, "in mode 2 fork of a big parent fails with ENOMEM",
             "cat /proc/sys/vm/overcommit_memory", "the kernel does not say");
    else if (mode == 2)
        find(f, WARNING,
             "fork of a big parent fails with ENOMEM, though the child would never use that "
             "memory; vfork-class spawns do not",
             "grep Commit /proc/meminfo  # how much may still be promised",
             "mode 2: all memory that is promised has to be there");
    else
        find_good(f, "mode %d", (int)mode);
}

void examine_swap(struct finding *f) {
    static const char effect[] =
        "a parent's pages that were swapped out are read back when touched";
    uint64_t total, unused;
    if (!files_count("/proc/meminfo", "SwapTotal", &total) ||
        !files_count("/proc/meminfo", "SwapFree", &unused) || unused > total)
        find(f, UNKNOWN, effect, "cat /proc/swaps", "/proc/meminfo does not say");
    else if (total == 0)
        find_good(f, "none");
    else if (total == unused)
        find_good(f, "%.0f MiB, unused", MIB(total << 10));
    else
        find(f, NOTE, effect, "sudo swapoff -a  # while you measure", "%.0f of %.0f MiB used",
             MIB((total - unused) << 10), MIB(total << 10));
}

/* Those that add work to each entry of the kernel or to each change of process. */
static bool is_dear(const char *flaw, const char *line) {
    static const char *const dear[] = {
        "PTI",      "Clear CPU buffers", "Mitigation: IBRS", "Mitigation: IBPB", "IBPB: always-on",
        "Safe RET", "safe RET",          "ntrained return"};
    if (strcmp(flaw, "vmscape") == 0) /* only after guests have run */
        return false;
    for (size_t i = 0; i < sizeof dear / sizeof *dear; i++)
        if (strstr(line, dear[i]))
            return true;
    return false;
}

void examine_mitigations(struct finding *f) {
    static const char effect[] =
        "system calls, page faults and switches between processes cost more";
    static const char next[] = "grep . /sys/devices/system/cpu/vulnerabilities/*";
    char list[200] = "";
    const char *name;
    json_t *all = host_mitigations(), *line;
    json_object_foreach(all, name, line) {
        size_t used = strlen(list);
        if (is_dear(name, json_string_value(line)))
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", name);
    }
    if (json_object_size(all) == 0)
        find(f, UNKNOWN, effect, "lscpu  # its last lines", "the kernel does not say");
    else if (*list)
        find(f, NOTE, effect, next, "against %s", list);
    else
        find_good(f, "none that makes system calls dear");
    json_decref(all);
}
