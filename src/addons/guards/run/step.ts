import type { Logger } from 'pino';
import type { ReportPluginFailure } from '../../../core/http/gateway/plugin-faults.ts';
import type { GatewayContext, GuardVerdict } from '../../../core/kernel/index.ts';
import type { Upstream } from '../../../core/upstream/types.ts';
import type { Clock } from '../../../plugin/index.ts';

export interface GuardTools {
  readonly clock: Clock;
  readonly exchange: Upstream['exchange'];
  readonly log: Logger;
  readonly pluginFault: ReportPluginFailure;
  readonly maxBytes: number;
  /** A plain reply is read whole, so that its status can tell what was found in it. */
  readonly wholeReplies: boolean;
  /** Nothing is called outside the process. */
  readonly dry: boolean;
  /** Called at the end of each request that a guard has read. Undefined in a dry run. */
  readonly count: ((verdicts: readonly GuardVerdict[]) => void) | undefined;
}

export type GuardNext = () => Promise<void>;

export type GuardStep = (ctx: GatewayContext, next: GuardNext) => Promise<void>;
