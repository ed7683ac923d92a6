/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of values in events, for the print formats of events.h: pairs of a value and its name,
 * as literals. The values are those of the SMC calling convention with PSCI, TRNG and FF-A
 * (linux/arm-smccc.h, linux/psci.h, linux/arm_ffa.h), of the exception classes (asm/esr.h) and
 * of KVM's exit codes (asm/kvm_asm.h); the last ones are the project's own. Functions with 64-bit
 * arguments end with _64.
 */
#ifndef __HYPTRACE_NAMES_H
#define __HYPTRACE_NAMES_H

/* Those of hypercalls are made when the kernel is built. */
#ifndef HYPTRACE_HCALL_NAMES
#define HYPTRACE_HCALL_NAMES		{ 0xffffffff, "none" }
#endif

/* Bits of a function id that only tell about registers of the caller */
#define HYPTRACE_SMC_HINTS	0x10000

#define HYPTRACE_SMC_NAMES						\
	{ 0x80000000, "SMCCC_VERSION" },				\
	{ 0x80000001, "SMCCC_ARCH_FEATURES" },				\
	{ 0x80000002, "SMCCC_ARCH_SOC_ID" },				\
	{ 0x80003fff, "SMCCC_ARCH_WORKAROUND_3" },			\
	{ 0x80007fff, "SMCCC_ARCH_WORKAROUND_2" },			\
	{ 0x80008000, "SMCCC_ARCH_WORKAROUND_1" },			\
	{ 0x84000000, "PSCI_VERSION" },					\
	{ 0x84000001, "PSCI_CPU_SUSPEND" },				\
	{ 0x84000002, "PSCI_CPU_OFF" },					\
	{ 0x84000003, "PSCI_CPU_ON" },					\
	{ 0x84000004, "PSCI_AFFINITY_INFO" },				\
	{ 0x84000005, "PSCI_MIGRATE" },					\
	{ 0x84000006, "PSCI_MIGRATE_INFO_TYPE" },			\
	{ 0x84000007, "PSCI_MIGRATE_INFO_UP_CPU" },			\
	{ 0x84000008, "PSCI_SYSTEM_OFF" },				\
	{ 0x84000009, "PSCI_SYSTEM_RESET" },				\
	{ 0x8400000a, "PSCI_FEATURES" },				\
	{ 0x8400000b, "PSCI_CPU_FREEZE" },				\
	{ 0x8400000c, "PSCI_CPU_DEFAULT_SUSPEND" },			\
	{ 0x8400000d, "PSCI_NODE_HW_STATE" },				\
	{ 0x8400000e, "PSCI_SYSTEM_SUSPEND" },				\
	{ 0x8400000f, "PSCI_SET_SUSPEND_MODE" },			\
	{ 0x84000010, "PSCI_STAT_RESIDENCY" },				\
	{ 0x84000011, "PSCI_STAT_COUNT" },				\
	{ 0x84000012, "PSCI_SYSTEM_RESET2" },				\
	{ 0x84000013, "PSCI_MEM_PROTECT" },				\
	{ 0x84000014, "PSCI_MEM_PROTECT_CHECK_RANGE" },			\
	{ 0x84000015, "PSCI_SYSTEM_OFF2" },				\
	{ 0x84000050, "TRNG_VERSION" },					\
	{ 0x84000051, "TRNG_FEATURES" },				\
	{ 0x84000052, "TRNG_GET_UUID" },				\
	{ 0x84000053, "TRNG_RND" },					\
	{ 0x84000060, "FFA_ERROR" },					\
	{ 0x84000061, "FFA_SUCCESS" },					\
	{ 0x84000062, "FFA_INTERRUPT" },				\
	{ 0x84000063, "FFA_VERSION" },					\
	{ 0x84000064, "FFA_FEATURES" },					\
	{ 0x84000065, "FFA_RX_RELEASE" },				\
	{ 0x84000066, "FFA_RXTX_MAP" },					\
	{ 0x84000067, "FFA_RXTX_UNMAP" },				\
	{ 0x84000068, "FFA_PARTITION_INFO_GET" },			\
	{ 0x84000069, "FFA_ID_GET" },					\
	{ 0x8400006a, "FFA_MSG_POLL" },					\
	{ 0x8400006b, "FFA_MSG_WAIT" },					\
	{ 0x8400006c, "FFA_YIELD" },					\
	{ 0x8400006d, "FFA_RUN" },					\
	{ 0x8400006e, "FFA_MSG_SEND" },					\
	{ 0x8400006f, "FFA_MSG_SEND_DIRECT_REQ" },			\
	{ 0x84000070, "FFA_MSG_SEND_DIRECT_RESP" },			\
	{ 0x84000071, "FFA_MEM_DONATE" },				\
	{ 0x84000072, "FFA_MEM_LEND" },					\
	{ 0x84000073, "FFA_MEM_SHARE" },				\
	{ 0x84000074, "FFA_MEM_RETRIEVE_REQ" },				\
	{ 0x84000075, "FFA_MEM_RETRIEVE_RESP" },			\
	{ 0x84000076, "FFA_MEM_RELINQUISH" },				\
	{ 0x84000077, "FFA_MEM_RECLAIM" },				\
	{ 0x84000078, "FFA_MEM_OP_PAUSE" },				\
	{ 0x84000079, "FFA_MEM_OP_RESUME" },				\
	{ 0x8400007a, "FFA_MEM_FRAG_RX" },				\
	{ 0x8400007b, "FFA_MEM_FRAG_TX" },				\
	{ 0x8400007c, "FFA_NORMAL_WORLD_RESUME" },			\
	{ 0x8400007d, "FFA_NOTIFICATION_BITMAP_CREATE" },		\
	{ 0x8400007e, "FFA_NOTIFICATION_BITMAP_DESTROY" },		\
	{ 0x8400007f, "FFA_NOTIFICATION_BIND" },			\
	{ 0x84000080, "FFA_NOTIFICATION_UNBIND" },			\
	{ 0x84000081, "FFA_NOTIFICATION_SET" },				\
	{ 0x84000082, "FFA_NOTIFICATION_GET" },				\
	{ 0x84000083, "FFA_NOTIFICATION_INFO_GET" },			\
	{ 0x84000084, "FFA_RX_ACQUIRE" },				\
	{ 0x84000085, "FFA_SPM_ID_GET" },				\
	{ 0x84000086, "FFA_MSG_SEND2" },				\
	{ 0x84000087, "FFA_SECONDARY_EP_REGISTER" },			\
	{ 0x84000088, "FFA_MEM_PERM_GET" },				\
	{ 0x84000089, "FFA_MEM_PERM_SET" },				\
	{ 0x8400008a, "FFA_CONSOLE_LOG" },				\
	{ 0x8400008c, "FFA_EL3_INTR_HANDLE" },				\
	{ 0xc4000001, "PSCI_CPU_SUSPEND_64" },				\
	{ 0xc4000003, "PSCI_CPU_ON_64" },				\
	{ 0xc4000004, "PSCI_AFFINITY_INFO_64" },			\
	{ 0xc4000005, "PSCI_MIGRATE_64" },				\
	{ 0xc4000007, "PSCI_MIGRATE_INFO_UP_CPU_64" },			\
	{ 0xc400000c, "PSCI_CPU_DEFAULT_SUSPEND_64" },			\
	{ 0xc400000d, "PSCI_NODE_HW_STATE_64" },			\
	{ 0xc400000e, "PSCI_SYSTEM_SUSPEND_64" },			\
	{ 0xc4000010, "PSCI_STAT_RESIDENCY_64" },			\
	{ 0xc4000011, "PSCI_STAT_COUNT_64" },				\
	{ 0xc4000012, "PSCI_SYSTEM_RESET2_64" },			\
	{ 0xc4000014, "PSCI_MEM_PROTECT_CHECK_RANGE_64" },		\
	{ 0xc4000015, "PSCI_SYSTEM_OFF2_64" },				\
	{ 0xc4000053, "TRNG_RND_64" },					\
	{ 0xc4000061, "FFA_SUCCESS_64" },				\
	{ 0xc4000066, "FFA_RXTX_MAP_64" },				\
	{ 0xc400006f, "FFA_MSG_SEND_DIRECT_REQ_64" },			\
	{ 0xc4000070, "FFA_MSG_SEND_DIRECT_RESP_64" },			\
	{ 0xc4000071, "FFA_MEM_DONATE_64" },				\
	{ 0xc4000072, "FFA_MEM_LEND_64" },				\
	{ 0xc4000073, "FFA_MEM_SHARE_64" },				\
	{ 0xc4000074, "FFA_MEM_RETRIEVE_REQ_64" },			\
	{ 0xc4000083, "FFA_NOTIFICATION_INFO_GET_64" },			\
	{ 0xc4000087, "FFA_SECONDARY_EP_REGISTER_64" },			\
	{ 0xc4000088, "FFA_MEM_PERM_GET_64" },				\
	{ 0xc4000089, "FFA_MEM_PERM_SET_64" },				\
	{ 0xc400008b, "FFA_PARTITION_INFO_GET_REGS" },			\
	{ 0xc400008d, "FFA_MSG_SEND_DIRECT_REQ2" },			\
	{ 0xc400008e, "FFA_MSG_SEND_DIRECT_RESP2" }

#define HYPTRACE_EC_NAMES						\
	{ 0x00, "UNKNOWN" },						\
	{ 0x01, "WFx" },						\
	{ 0x03, "CP15_32" },						\
	{ 0x04, "CP15_64" },						\
	{ 0x05, "CP14_MR" },						\
	{ 0x06, "CP14_LS" },						\
	{ 0x07, "FP_ASIMD" },						\
	{ 0x08, "CP10_ID" },						\
	{ 0x09, "PAC" },						\
	{ 0x0a, "OTHER" },						\
	{ 0x0c, "CP14_64" },						\
	{ 0x0d, "BTI" },						\
	{ 0x0e, "ILL" },						\
	{ 0x11, "SVC32" },						\
	{ 0x12, "HVC32" },						\
	{ 0x13, "SMC32" },						\
	{ 0x15, "SVC64" },						\
	{ 0x16, "HVC64" },						\
	{ 0x17, "SMC64" },						\
	{ 0x18, "SYS64" },						\
	{ 0x19, "SVE" },						\
	{ 0x1a, "ERET" },						\
	{ 0x1c, "FPAC" },						\
	{ 0x1d, "SME" },						\
	{ 0x1f, "IMP_DEF" },						\
	{ 0x20, "IABT_LOW" },						\
	{ 0x21, "IABT_CUR" },						\
	{ 0x22, "PC_ALIGN" },						\
	{ 0x24, "DABT_LOW" },						\
	{ 0x25, "DABT_CUR" },						\
	{ 0x26, "SP_ALIGN" },						\
	{ 0x27, "MOPS" },						\
	{ 0x28, "FP_EXC32" },						\
	{ 0x2c, "FP_EXC64" },						\
	{ 0x2d, "GCS" },						\
	{ 0x2f, "SERROR" },						\
	{ 0x30, "BREAKPT_LOW" },					\
	{ 0x31, "BREAKPT_CUR" },					\
	{ 0x32, "SOFTSTP_LOW" },					\
	{ 0x33, "SOFTSTP_CUR" },					\
	{ 0x34, "WATCHPT_LOW" },					\
	{ 0x35, "WATCHPT_CUR" },					\
	{ 0x38, "BKPT32" },						\
	{ 0x3a, "VECTOR32" },						\
	{ 0x3c, "BRK64" }

#define HYPTRACE_EXIT_TRAP	2
#define HYPTRACE_EXIT_NAMES						\
	{ 0, "irq" },							\
	{ 1, "serror" },						\
	{ HYPTRACE_EXIT_TRAP, "trap" },					\
	{ 3, "illegal" }

/* What a PMU can count: the names of the Linux driver, but cpu_cycles and inst_retired */
#define HYPTRACE_PMU_NAMES						\
	{ 0x01, "l1i_cache_refill" },					\
	{ 0x02, "l1i_tlb_refill" },					\
	{ 0x03, "l1d_cache_refill" },					\
	{ 0x04, "l1d_cache" },						\
	{ 0x05, "l1d_tlb_refill" },					\
	{ 0x08, "instructions" },					\
	{ 0x09, "exc_taken" },						\
	{ 0x0a, "exc_return" },						\
	{ 0x10, "br_mis_pred" },					\
	{ 0x11, "cycles" },						\
	{ 0x12, "br_pred" },						\
	{ 0x13, "mem_access" },						\
	{ 0x14, "l1i_cache" },						\
	{ 0x16, "l2d_cache" },						\
	{ 0x17, "l2d_cache_refill" },					\
	{ 0x19, "bus_access" },						\
	{ 0x1b, "inst_spec" },						\
	{ 0x21, "br_retired" },						\
	{ 0x22, "br_mis_pred_retired" },				\
	{ 0x23, "stall_frontend" },					\
	{ 0x24, "stall_backend" },					\
	{ 0x25, "l1d_tlb" },						\
	{ 0x26, "l1i_tlb" },						\
	{ 0x2a, "l3d_cache_refill" },					\
	{ 0x2b, "l3d_cache" },						\
	{ 0x2d, "l2d_tlb_refill" },					\
	{ 0x34, "dtlb_walk" },						\
	{ 0x35, "itlb_walk" },						\
	{ 0x37, "ll_cache_miss_rd" }

/* The events that are measured with the PMU */
#define HYPTRACE_PMU_OF_VISIT	0
#define HYPTRACE_PMU_OF_CALL	1
#define HYPTRACE_PMU_OF_GUEST	2
#define HYPTRACE_NR_PMU_OF	3
#define HYPTRACE_PMU_OF_NAMES						\
	{ HYPTRACE_PMU_OF_VISIT, "hyp_enter" },				\
	{ HYPTRACE_PMU_OF_CALL, "host_hcall" },				\
	{ HYPTRACE_PMU_OF_GUEST, "guest_exit" }

#define HYPTRACE_MEM_SHARE		0
#define HYPTRACE_MEM_UNSHARE		1
#define HYPTRACE_MEM_DONATE		2
#define HYPTRACE_MEM_RECLAIM		3

#define HYPTRACE_MEM_OP_NAMES					\
	{ HYPTRACE_MEM_SHARE,		"share" },		\
	{ HYPTRACE_MEM_UNSHARE,		"unshare" },		\
	{ HYPTRACE_MEM_DONATE,		"donate" },		\
	{ HYPTRACE_MEM_RECLAIM,		"reclaim" }

#define HYPTRACE_OWNER_HOST		0
#define HYPTRACE_OWNER_HYP		1
#define HYPTRACE_OWNER_GUEST		2
#define HYPTRACE_OWNER_FFA		3

#define HYPTRACE_OWNER_NAMES					\
	{ HYPTRACE_OWNER_HOST,		"host" },		\
	{ HYPTRACE_OWNER_HYP,		"hyp" },		\
	{ HYPTRACE_OWNER_GUEST,		"guest" },		\
	{ HYPTRACE_OWNER_FFA,		"ffa" }

#define HYPTRACE_TLBI_VMID_IPA		0
#define HYPTRACE_TLBI_VMID_IPA_NSH	1
#define HYPTRACE_TLBI_VMID_RANGE	2
#define HYPTRACE_TLBI_VMID		3
#define HYPTRACE_TLBI_CPU_CONTEXT	4
#define HYPTRACE_TLBI_VM_CONTEXT	5

#define HYPTRACE_TLBI_NAMES					\
	{ HYPTRACE_TLBI_VMID_IPA,	"vmid_ipa" },		\
	{ HYPTRACE_TLBI_VMID_IPA_NSH,	"vmid_ipa_nsh" },	\
	{ HYPTRACE_TLBI_VMID_RANGE,	"vmid_range" },		\
	{ HYPTRACE_TLBI_VMID,		"vmid" },		\
	{ HYPTRACE_TLBI_CPU_CONTEXT,	"cpu_context" },	\
	{ HYPTRACE_TLBI_VM_CONTEXT,	"vm_context" }

#define HYPTRACE_POOL_ALLOC		0
#define HYPTRACE_POOL_FREE		1

#define HYPTRACE_POOL_NAMES					\
	{ HYPTRACE_POOL_ALLOC,		"alloc" },		\
	{ HYPTRACE_POOL_FREE,		"free" }

#define HYPTRACE_LOCK_OTHER		0
#define HYPTRACE_LOCK_HOST_MMU		1
#define HYPTRACE_LOCK_PKVM_PGD		2
#define HYPTRACE_LOCK_VM_TABLE		3
#define HYPTRACE_LOCK_VM		4
#define HYPTRACE_LOCK_VM_POOL		5
#define HYPTRACE_LOCK_HYP_POOL		6
#define HYPTRACE_LOCK_HOST_POOL		7

#define HYPTRACE_LOCK_NAMES					\
	{ HYPTRACE_LOCK_OTHER,		"other" },		\
	{ HYPTRACE_LOCK_HOST_MMU,	"host_mmu" },		\
	{ HYPTRACE_LOCK_PKVM_PGD,	"pkvm_pgd" },		\
	{ HYPTRACE_LOCK_VM_TABLE,	"vm_table" },		\
	{ HYPTRACE_LOCK_VM,		"vm" },			\
	{ HYPTRACE_LOCK_VM_POOL,	"vm_pool" },		\
	{ HYPTRACE_LOCK_HYP_POOL,	"hyp_pool" },		\
	{ HYPTRACE_LOCK_HOST_POOL,	"host_pool" }

#endif /* __HYPTRACE_NAMES_H */
