import type { Clock } from '../../../plugin/index.ts';
import type { Settings } from '../../../core/settings/read/load.ts';
import type { Actor } from '../../../core/ports/entities.ts';
import type { ServerSettings } from '../../../core/settings/compile/server-settings.ts';
import type { AdminOptions, ApiSources } from '../../../core/process/admin-port.ts';
import type { AdminIdentity } from './identity.ts';
import type { Objects } from './objects.ts';
import type { People } from './people.ts';
import type { CallQuery } from './parameters.ts';
import { ApiProblem } from './problems.ts';
import type { OperationId } from './routes.ts';

/** A call that is authenticated, allowed and has a valid body. */
export interface Call extends Pick<ApiSources, 'records' | 'explains' | 'explain' | 'console'> {
  readonly operation: OperationId;
  readonly identity: AdminIdentity;
  /** The id in the path; empty where the route has none. */
  readonly id: string;
  readonly query: CallQuery;
  /** Valid by the schema of the route. */
  readonly body: unknown;
  readonly bytes: Buffer;
  readonly limits: ServerSettings['limits'];
  readonly accept: string | undefined;
  readonly lastEventId: string | undefined;
  /** Runs a task when the client leaves. @returns ends that */
  readonly onLeave: (task: () => void) => () => void;
  /** Whether the caller still has the right to this call. */
  readonly isAllowed: () => Promise<boolean>;
  readonly ifMatch: string | undefined;
  /** A digest of the caller's `Idempotency-Key`, or random. */
  readonly callId: string;
  readonly objects: Objects;
  readonly people: Pick<People, 'list'>;
  readonly settings: Settings;
  readonly sources: AdminOptions;
  readonly clock: Clock;
  readonly readObjects: () => Promise<Objects>;
}

export interface CallAnswer {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly status?: number;
  readonly stream?: { readonly type: string; readonly pieces: AsyncIterable<string | Uint8Array> };
  readonly file?: { readonly type: string; readonly name: string; readonly pieces: AsyncIterable<string> };
}

export type Handler = (call: Call) => CallAnswer | Promise<CallAnswer>;

export const actorOf = ({ identity }: Pick<Call, 'identity'>): Actor => identity.actor;

/** The reason in the audit row of a write: the operation, and what the caller gave as `reason`. */
export const reasonOf = (
  { operation, query }: Pick<Call, 'operation' | 'query'>,
  reason = query.one('reason'),
): string => (reason === undefined ? operation : `${operation}: ${reason}`);

/** Throws unless `If-Match` has the ETag (RFC 9110, section 13.1.1). A weak one never matches. */
export function checkMatch({ ifMatch }: Pick<Call, 'ifMatch'>, etag: string): void {
  if (ifMatch === undefined)
    throw new ApiProblem('precondition_required', 'Send the ETag of the object, as a read has it, in `If-Match`.');
  const sent = ifMatch.split(',').map((one) => one.trim());
  if (!sent.includes('*') && !sent.includes(etag))
    throw new ApiProblem('precondition_failed', 'The object has another ETag now: read it again.', {
      headers: { etag },
    });
}
