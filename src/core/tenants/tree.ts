import type { Caller } from '../kernel/index.ts';

/** The name of what a counter counts, for people: `team:search:month:usd` of the counter `team:search month usd`. It fits into a URL. */
export const nameOfCounter = (node: string): string => node.replaceAll(' ', ':');

/** The kinds of nodes, from the outermost in. */
export const NODE_KINDS = ['organization', 'team', 'key'] as const;
export type NodeKind = (typeof NODE_KINDS)[number];

/** A period of the calendar; `total` never ends. */
type Period = 'hour' | 'day' | 'week' | 'month' | 'total';

/** A span of wall clock time: `start <= t < end`. */
export interface Span {
  /** 0 for a budget without periods. */
  readonly start: number;
  readonly end: number;
}

/** The cap of a budget: an integer of nano-USD or of tokens. */
export interface Cap {
  readonly unit: 'usd' | 'tokens';
  readonly amount: number;
}

/** So many per time. */
export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

/** A budget of one node, compiled. */
export interface Budget extends Cap {
  /** Node, period, unit, models. Not the cap: with a new cap, what is spent stays spent. */
  readonly id: string;
  /** `id` for people: `team:search:month:usd:claude-*` in metrics, logs, alerts, errors, the admin API and the audit. */
  readonly name: string;
  readonly node: TreeNode;
  readonly period: Period;
  readonly timeZone: string;
  /** The day on which a month begins. */
  readonly dayOfMonth: number;
  /** True: a request that does not fit is refused. False: it is sent and counted. */
  readonly hard: boolean;
  /** Percentages of the cap, ascending. */
  readonly alerts: readonly number[];
  /** Patterns of models, with or without `@slug/`. Undefined: all models. */
  readonly models: readonly string[] | undefined;
}

/** The limits of one node, or of one node for the models of a pattern. */
export interface Limits {
  readonly requests?: Rate | undefined;
  readonly tokens?: Rate | undefined;
  /** Tokens that the provider read from its cache do not count. */
  readonly leavesOutCached?: true | undefined;
  readonly concurrency?: number | undefined;
}

export interface NodeLimits extends Limits {
  /** Further limits, by pattern of models. */
  readonly models: readonly { readonly pattern: string; readonly limits: Limits }[];
}

export interface TreeNode {
  readonly kind: NodeKind;
  readonly id: string;
  /** `team:search`: unique among all kinds. */
  readonly ref: string;
  readonly budgets: readonly Budget[];
  readonly limits: NodeLimits | undefined;
}

/** The nodes of a key that have budgets or limits of their own or not: its organization, its team, itself. */
export type NodePath = readonly TreeNode[];

export type CallerPlace = Pick<Caller, 'keyId' | 'team' | 'organization'>;

/** The nodes above each key, compiled at load: a request looks its path up and walks no tree. */
export interface NodeTree {
  /**
   * By the caller's team, which is another than its key's where a plugin has made the caller. Empty for a key that is not known, without
   * a team. Throws GatewayError `key_misconfigured` for a team or organization that does not exist.
   */
  pathOf(caller: CallerPlace): NodePath;
  /** Every node once, the outer ones first. */
  nodes(): readonly TreeNode[];
  readonly hasBudgets: boolean;
  readonly hasLimits: boolean;
}

/** Nodes that differ between two trees. */
export interface NodeChanges {
  readonly changed: readonly TreeNode[];
  /** As they were: those that have changed, and those that are gone. */
  readonly before: readonly TreeNode[];
}

/** The tree of organizations, teams and keys as alerts know it. */
export interface AlertTree {
  /** The refs of the nodes around a node, from the inside out. */
  around(ref: string): readonly string[];
}
