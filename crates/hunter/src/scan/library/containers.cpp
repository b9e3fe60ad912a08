// Functions of the C++ library that containers call: a superset of what they do, for the analysis only. None of this is
// executed. Each function is defined only if the program calls it and does not define it.
#include <map>

extern "C" int __racehunter_any_int();

#ifdef WANT_tree
using Node = std::_Rb_tree_node_base;

// Any node of the tree that has this one.
static Node *any_of(Node *node)
{
    while (__racehunter_any_int())
        node = __racehunter_any_int() ? node->_M_left : __racehunter_any_int() ? node->_M_right : node->_M_parent;
    return node;
}

// Links any nodes to any others, in any way.
static void link_anyhow(Node *one, Node *other, Node *header)
{
    while (__racehunter_any_int()) {
        Node *from = any_of(__racehunter_any_int() ? one : __racehunter_any_int() ? other : header);
        Node *to = any_of(__racehunter_any_int() ? one : __racehunter_any_int() ? other : header);
        if (__racehunter_any_int())
            to = nullptr;
        from->_M_color = from->_M_color == std::_S_red ? std::_S_black : std::_S_red;
        from->_M_parent = to;
        from->_M_left = to;
        from->_M_right = to;
    }
}

namespace std {
Node *_Rb_tree_increment(Node *node) throw() { return any_of(node); }
const Node *_Rb_tree_increment(const Node *node) throw() { return any_of(const_cast<Node *>(node)); }

// It looks at the colour to recognise the header.
Node *_Rb_tree_decrement(Node *node) throw() { return node->_M_color == _S_red ? any_of(node) : any_of(node); }
const Node *_Rb_tree_decrement(const Node *node) throw() { return _Rb_tree_decrement(const_cast<Node *>(node)); }

void _Rb_tree_insert_and_rebalance(bool, Node *added, Node *above, Node &header) throw()
{
    link_anyhow(added, above, &header);
}

Node *_Rb_tree_rebalance_for_erase(Node *const removed, Node &header) throw()
{
    link_anyhow(removed, removed, &header);
    return any_of(__racehunter_any_int() ? removed : &header);
}
} // namespace std
#endif
