#pragma once

/* Style sheets: of the page, and of pictures alone, which take their colours from variables. */
extern const char page_style[];
extern const char picture_style[];
extern const char light_colours[];
extern const char dark_colours[];
