#pragma once

/* What every cmocka test includes, in the order that cmocka asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
