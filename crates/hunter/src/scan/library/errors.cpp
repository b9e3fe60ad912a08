// Classes of exceptions of the C++ library, for the analysis only. None of this is executed. They are defined only if the
// program uses one of them. Each object has a text of its own: the library shares it among copies, and counts them.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#ifdef WANT_errors
namespace std {
exception::~exception() noexcept {}
const char *exception::what() const noexcept { return "an exception"; }

__cow_string::__cow_string() : _M_p(strdup("")) {}
__cow_string::__cow_string(const char *text, size_t) : _M_p(strdup(text)) {}
__cow_string::__cow_string(const __cow_string &other) noexcept : _M_p(strdup(other._M_p)) {}
__cow_string::~__cow_string() { free(const_cast<char *>(_M_p)); }
__cow_string &__cow_string::operator=(const __cow_string &other) noexcept
{
    free(const_cast<char *>(_M_p));
    _M_p = strdup(other._M_p);
    return *this;
}

#define BASE(type)                                                                                                     \
    type::type(const char *text) : _M_msg(text, strlen(text)) {}                                                       \
    type::type(const string &text) : _M_msg(text.c_str(), text.size()) {}                                              \
    type::type(const type &other) noexcept : exception(other), _M_msg(other._M_msg) {}                                 \
    type &type::operator=(const type &other) noexcept                                                                  \
    {                                                                                                                  \
        _M_msg = other._M_msg;                                                                                         \
        return *this;                                                                                                  \
    }                                                                                                                  \
    type::~type() noexcept {}                                                                                          \
    const char *type::what() const noexcept { return _M_msg._M_p; }

#define DERIVED(type, base)                                                                                            \
    type::type(const char *text) : base(text) {}                                                                       \
    type::type(const string &text) : base(text) {}                                                                     \
    type::~type() noexcept {}

BASE(logic_error)
BASE(runtime_error)
DERIVED(domain_error, logic_error)
DERIVED(invalid_argument, logic_error)
DERIVED(length_error, logic_error)
DERIVED(out_of_range, logic_error)
DERIVED(range_error, runtime_error)
DERIVED(overflow_error, runtime_error)
DERIVED(underflow_error, runtime_error)
} // namespace std
#endif
