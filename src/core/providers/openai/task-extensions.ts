import { toCamel } from '../../../formats/json/field-names.ts';
import { LossReport } from '../../../formats/losses/losses.ts';
import type { BodyEdit } from '../../../formats/body-view.ts';
import { NOT_TAKEN } from '../../../formats/openai-chat/extensions.ts';
import type { PassThroughCodec } from '../codec.ts';

/** For APIs where `stream: true` requests events. */
export const streamsByField: NonNullable<PassThroughCodec['streams']> = (body) => body.value('stream') === true;

/**
 * A request for events. Embeddings and moderations have none: a server that answers with events all the same sends what no client of
 * these APIs reads.
 */
export const EVENT_FIELDS = ['stream', 'stream_options'] as const;

/**
 * Takes top-level fields out of a body, in both spellings. A null counts as omitted (docs/protocols/requests.md#nulls).
 *
 * @param extensions fields that a server may take
 * @param never fields that no server of the API takes; a false asks for nothing
 */
export const withoutFields =
  (extensions: readonly string[], never: readonly string[] = []): NonNullable<PassThroughCodec['clean']> =>
  (body, taken) => {
    const report = new LossReport();
    const edits: BodyEdit[] = [];
    const unknown = taken ? extensions.filter((field) => !taken.has(field)) : [];
    for (const field of [...unknown, ...never]) {
      const asksNothing = never.includes(field) ? [null, false] : [null];
      for (const name of new Set([field, toCamel(field)])) {
        if (!body.has(name)) continue;
        edits.push({ path: [name], value: undefined, source: 'gateway' });
        if (!asksNothing.some((value) => body.value(name) === value)) report.dropped(name, NOT_TAKEN);
      }
    }
    return edits.length === 0 ? undefined : { edits, losses: report.list() };
  };
