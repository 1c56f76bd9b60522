import type { LimitedKind } from '../../../plugin/errors.ts';
import { comparedName } from '../../../core/catalog/model-pattern.ts';
import type { Rate } from '../../../core/tenants/amounts.ts';
import { Bucket } from './gcra.ts';
import type { Limits, NodeLimits } from '../../../core/tenants/tree.ts';

/** The owner of limits: a node of the tree, or a catalog entry. */
export interface Limited {
  readonly kind: LimitedKind;
  readonly id: string;
  /** `team:search`: unique among all kinds. */
  readonly ref: string;
  readonly limits: NodeLimits | undefined;
}

/** One node, or one node for the models of a pattern: its limits and what is used of them. */
export class Gate {
  readonly of: Limited;
  /** Pattern of models. Undefined: all models. */
  readonly models: string | undefined;
  /** `models` as names of models are compared. */
  readonly pattern: string;
  /** As the settings have them, for all processes together. */
  limits: Limits;
  requests: Bucket | undefined;
  tokens: Bucket | undefined;
  most = Infinity;
  running = 0;

  constructor(of: Limited, models: string | undefined, limits: Limits, processes: number) {
    this.of = of;
    this.models = models;
    this.pattern = comparedName(models ?? '*');
    this.limits = limits;
    this.change(limits, processes, 0);
  }

  /** Applies new limits to what is used already. */
  change(limits: Limits, processes: number, now: number): void {
    this.limits = limits;
    this.requests = changed(this.requests, limits.requests, processes, now);
    this.tokens = changed(this.tokens, limits.tokens, processes, now);
    this.most = limits.concurrency === undefined ? Infinity : Math.ceil(limits.concurrency / processes);
  }

  isUnused(now: number): boolean {
    return this.running === 0 && !this.requests?.fullIn(now) && !this.tokens?.fullIn(now);
  }
}

function changed(
  bucket: Bucket | undefined,
  rate: Rate | undefined,
  processes: number,
  now: number,
): Bucket | undefined {
  if (!rate) return undefined;
  const share = { count: rate.count / processes, perMs: rate.perMs };
  if (!bucket) return new Bucket(share);
  bucket.change(share, now);
  return bucket;
}

export type Refs = readonly { readonly ref: string }[];

/** The gates of one version of the settings. */
export interface GateDirectory {
  /** Called when these settings take effect. */
  use(): void;
  /** The directory after some nodes have changed; its `use` applies what has. @param before the nodes as they were */
  with(nodes: readonly Limited[], before: readonly Limited[]): GateDirectory;
  /** The gates of a path of nodes for requests of any model. @param path the same list for all requests of a key */
  whole(path: Refs): readonly Gate[];
  /** The gate of one node for requests of any model. */
  one(ref: string): Gate | undefined;
  /** The gates of nodes that a model has, by its provider's name and with `@slug/`, both as `comparedName` writes them. */
  ofModel(refs: Refs, model: string, full: string): readonly Gate[];
}
