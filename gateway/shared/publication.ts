// One publication of a contract, as `contract/` records it and `portal/` tells it.

export interface Publication {
  /** `2026-11-26`, in UTC. */
  readonly day: string;
  /** `v1`, or the name of an upstream. */
  readonly contract: string;
  /** How many operations the contract has since then. */
  readonly operations: number;
  /** None: the first publication. */
  readonly changes: readonly PublishedChange[];
}

/** The same change of several operations is told once. */
export interface PublishedChange {
  /** The rule of the comparison, such as `operation-added`. */
  readonly rule: string;
  readonly level: 'breaking' | 'additive';
  /** The place in an operation, and the change. */
  readonly text: string;
  /** Why a break was accepted, as the configuration said when it was published. */
  readonly reason?: string;
  /** The operations with this change; `at`: method and path. */
  readonly operations: readonly { readonly id: string; readonly at: string }[];
}
