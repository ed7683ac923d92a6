// SPDX-License-Identifier: GPL-2.0-only
// The page pools of EL2. Their free pages are counted in a field of struct hyp_pool.

//# hook pool_init page_alloc.c hyp_pool: the initialisation of a pool's lock
@@
identifier pool;
@@
 hyp_spin_lock_init(&pool->lock);
+hyptrace_pool_init__at_pool_init(pool);

//# hook pool_alloc page_alloc.c hyp_pool: hyp_alloc_pages() takes the first reference
@@
identifier pool, order;
type T;
expression p;
@@
hyp_alloc_pages(struct hyp_pool *pool, T order)
{
<+...
 hyp_set_page_refcounted(p);
+hyptrace_pool_alloc__at_pool_alloc(pool, order);
...+>
}

//# hook pool_free page_alloc.c hyp_pool: __hyp_attach_page() clears the pages
@@
identifier pool, p;
@@
__hyp_attach_page(struct hyp_pool *pool, struct hyp_page *p)
{
<+...
+hyptrace_pool_free__at_pool_free(pool, order);
 memset(hyp_page_to_virt(p), ...);
...+>
}
