import type { SettingPlace } from '../explanation/explanation.ts';
import type { Observation, SeenAttempt } from '../explain/observation.ts';
import { describeBody } from '../explain/describe/outbound.ts';
import { decidingPlace } from './deciding-place.ts';

/** A target that was tried, and what was sent there. */
export interface RunTarget {
  /** `@slug/model` */
  readonly name: string;
  readonly at: string;
  /** Undefined: nothing was sent. */
  readonly sent: { readonly url: string; readonly format: string; readonly body: unknown } | undefined;
  /** The error by which the gateway itself refused it. */
  readonly refused: string | undefined;
  readonly place: SettingPlace | undefined;
  readonly one: SeenAttempt;
}

/** The targets of a run, in the order in which they are tried. */
export const targetsIn = (seen: Observation): readonly RunTarget[] =>
  seen.attempts.flatMap((one) => {
    const { resolved, outbound, attempt, supposed } = one;
    if (!resolved) return [];
    return {
      name: `@${resolved.slug}/${resolved.model}`,
      at: attempt.target.path,
      sent:
        outbound && !outbound.answer
          ? {
              // Some vendors take keys in the query.
              url: outbound.origin + (outbound.path.split('?')[0] ?? ''),
              format: resolved.format,
              body: describeBody(outbound.body.toString()),
            }
          : undefined,
      refused: supposed ? undefined : attempt.error?.code,
      place: decidingPlace(seen, one),
      one,
    };
  });
