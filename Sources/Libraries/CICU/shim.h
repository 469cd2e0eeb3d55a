#pragma once
#include <unicode/ustring.h>
