// events SECONDS PROGRAM...: runs the programs at once, in a loop of poll(2), and after SECONDS
// kills what is left, with all that it has started. Of std alone: rustc events.rs -l forkless
use std::os::raw::{c_char, c_int, c_short, c_ulong, c_void};
use std::{env, ffi::CString, mem::zeroed, process::exit, ptr::null_mut};

#[repr(C)] // how, code; dumped, execed, usage, reserved
struct Status(c_int, c_int, [u64; 23]);
#[repr(C)] // code, step, index; subject, reason; reserved
struct Error([c_int; 3], [c_char; 256], [u64; 4]);
#[repr(C)]
struct PollFd(c_int, c_short, c_short);

extern "C" {
    fn forkless_command_new(command: *mut *mut c_void, program: *const c_char) -> c_int;
    fn forkless_command_search(command: *mut c_void) -> c_int;
    fn forkless_command_group(command: *mut c_void, group: c_int) -> c_int;
    fn forkless_command_free(command: *mut c_void);
    fn forkless_start(command: *const c_void, child: *mut *mut c_void, e: *mut Error) -> c_int;
    fn forkless_poll_fd(child: *mut c_void) -> c_int;
    fn forkless_next_deadline(child: *const c_void) -> i64;
    fn forkless_deadline_in(ns: i64) -> i64;
    fn forkless_wait(child: *mut c_void, deadline: i64, s: *mut Status, e: *mut Error) -> c_int;
    fn forkless_kill(child: *mut c_void, signal: c_int, whom: c_int) -> c_int;
    fn forkless_child_free(child: *mut c_void);
    fn forkless_error_print(error: *const Error, buffer: *mut u8, size: usize) -> c_int;
    fn poll(fds: *mut PollFd, count: c_ulong, timeout_ms: c_int) -> c_int;
}
const POLLIN: c_short = 1;
const ETIMEDOUT: c_int = 110;
const FORKLESS_EXITED: c_int = 1;

type Child = *mut c_void;

fn sentence(error: &Error) -> String {
    let mut text = [0; 256];
    let size = unsafe { forkless_error_print(error, text.as_mut_ptr(), text.len()) } as usize;
    String::from_utf8_lossy(&text[..size.min(text.len() - 1)]).into()
}

fn start(program: &str) -> Result<Child, String> {
    let name = CString::new(program).unwrap(); // of env::args()
    let (mut command, mut child) = (null_mut(), null_mut());
    unsafe {
        let mut error = zeroed();
        forkless_command_new(&mut command, name.as_ptr());
        forkless_command_search(command);
        forkless_command_group(command, 0);
        let rc = forkless_start(command, &mut child, &mut error);
        forkless_command_free(command);
        (rc == 0).then_some(child).ok_or_else(|| sentence(&error))
    }
}

/// None: it lives. Has it ended well, and if not, how?
fn look(child: Child, late: bool) -> Option<Result<(), String>> {
    let (mut status, mut error): (Status, Error) = unsafe { zeroed() };
    Some(
        match unsafe { forkless_wait(child, 0, &mut status, &mut error) } {
            0 if status.0 == FORKLESS_EXITED && status.1 == 0 => Ok(()),
            0 if late => Err("it took too long".into()),
            0 => Err("it did not end well".into()),
            rc if rc == -ETIMEDOUT => return None,
            _ => Err(sentence(&error)), // its exec failed
        },
    )
}

fn main() {
    let mut words = env::args().skip(1);
    let seconds: Option<f64> = words.next().and_then(|word| word.parse().ok());
    let ns = (seconds.unwrap_or_else(|| exit(2)) * 1e9) as i64;
    let deadline = unsafe { forkless_deadline_in(ns) };
    let (mut failed, mut late) = (false, false);
    let mut complain = |program: &str, how: &str| {
        eprintln!("events: {program}: {how}");
        failed = true;
    };
    let mut tools: Vec<(Child, String)> = Vec::new();
    for program in words {
        match start(&program) {
            Ok(child) => tools.push((child, program)),
            Err(how) => complain(&program, &how),
        }
    }
    while !tools.is_empty() {
        unsafe {
            // Negative where there are no pidfds: next_deadline then comes often.
            let fd = |tool: &(Child, _)| PollFd(forkless_poll_fd(tool.0), POLLIN, 0);
            let mut fds: Vec<PollFd> = tools.iter().map(fd).collect();
            let next = tools.iter().map(|tool| forkless_next_deadline(tool.0));
            let next = next.fold(if late { i64::MAX } else { deadline }, i64::min);
            let left = (next - forkless_deadline_in(0)).clamp(-1, 60_000_000_000);
            let ms = (left / 1_000_000 + 1) as c_int;
            poll(fds.as_mut_ptr(), fds.len() as c_ulong, ms);
            if !late && deadline <= forkless_deadline_in(0) {
                late = true;
                for tool in &tools {
                    forkless_kill(tool.0, 9, 0); // SIGKILL, FORKLESS_GROUP
                }
            }
        }
        tools.retain(|(child, program)| {
            let ended = look(*child, late);
            if let Some(Err(how)) = &ended {
                complain(program, how);
            }
            if ended.is_some() {
                unsafe { forkless_child_free(*child) };
            }
            ended.is_none()
        });
    }
    exit(failed as c_int)
}
