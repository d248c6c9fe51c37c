#include "unwind.h"

#include <string.h>

struct state {
    const struct stack *stack;
    uint64_t *addresses;
    size_t used, most;
};

/* libdw binds callbacks and their argument to a process once and for good. */
static struct state *now;

/* It asks for the threads of a process; there is one, with this number. */
enum { THREAD = 1 };

static pid_t next_thread(Dwfl *dwfl, void *nothing, void **thread) {
    (void)dwfl, (void)nothing;
    bool first = !*thread;
    *thread = &now;
    return first ? THREAD : 0;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *nothing) {
    (void)dwfl, (void)nothing;
    uint64_t at = address - now->stack->registers[REGISTER_SP];
    if (at > now->stack->size || now->stack->size - at < sizeof *word)
        return false;
    memcpy(word, (const char *)now->stack->bytes + at, sizeof *word);
    struct words *words = now->stack->words;
    if (words && words->used++ < words->most)
        words->list[words->used - 1] = (struct word){at, *word};
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *nothing) {
    (void)nothing;
    const uint64_t *registers = now->stack->registers;
    dwfl_thread_state_register_pc(thread, registers[REGISTER_IP]);
    return dwfl_thread_state_registers(thread, 0, REGISTER_IP, registers);
}

static const Dwfl_Thread_Callbacks callbacks = {
    .next_thread = next_thread,
    .memory_read = read_word,
    .set_initial_registers = set_registers,
};

/* A return address may be the first one of another function: its call is before it. */
static int add_frame(Dwfl_Frame *frame, void *nothing) {
    (void)nothing;
    bool interrupted;
    Dwarf_Addr address;
    if (!dwfl_frame_pc(frame, &address, &interrupted) || address == 0)
        return DWARF_CB_ABORT;
    now->addresses[now->used++] = interrupted ? address : address - 1;
    return now->used < now->most ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* libdw follows frame pointers itself, but needs one file of the process to know the machine. */
static void follow_frame_pointers(void) {
    const uint64_t *registers = now->stack->registers;
    uint64_t frame = registers[REGISTER_BP], above, address;
    now->addresses[now->used++] = registers[REGISTER_IP];
    while (now->used < now->most && read_word(NULL, frame, &above, NULL) &&
           read_word(NULL, frame + sizeof above, &address, NULL) && address != 0) {
        now->addresses[now->used++] = address - 1;
        if (above <= frame)
            break;
        frame = above;
    }
}

size_t unwind(struct symbols *symbols, const struct stack *stack, uint64_t *addresses,
              size_t most) {
    struct state state = {.stack = stack, .addresses = addresses, .most = most};
    Dwfl *dwfl = symbols_dwfl(symbols);
    if (most == 0)
        return 0;
    now = &state;
    if (dwfl_pid(dwfl) >= 0 || dwfl_attach_state(dwfl, NULL, THREAD, &callbacks, NULL))
        dwfl_getthread_frames(dwfl, THREAD, add_frame, NULL);
    if (state.used == 0)
        follow_frame_pointers();
    now = NULL;
    return state.used;
}
