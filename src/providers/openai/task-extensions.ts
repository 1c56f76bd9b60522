import { toCamel } from '../../formats/json/field-names.ts';
import { LossReport } from '../../formats/losses/losses.ts';
import type { BodyEdit } from '../../formats/format.ts';
import { NOT_TAKEN } from '../../formats/openai-chat/extensions.ts';
import type { PassThroughCodec } from '../codec.ts';

/** For APIs where `stream: true` requests events. */
export const streamsByField: NonNullable<PassThroughCodec['streams']> = (body) => body.value('stream') === true;

/** Takes top-level fields out of a body, in both spellings. A null counts as omitted (docs/protocols/requests.md#nulls). */
export const withoutFields =
  (fields: readonly string[]): NonNullable<PassThroughCodec['clean']> =>
  (body, extensions) => {
    const report = new LossReport();
    const edits: BodyEdit[] = [];
    for (const field of fields) {
      if (extensions.has(field)) continue;
      for (const name of new Set([field, toCamel(field)])) {
        if (!body.has(name)) continue;
        edits.push({ path: [name], value: undefined, source: 'gateway' });
        if (body.value(name) !== null) report.dropped(name, NOT_TAKEN);
      }
    }
    return edits.length === 0 ? undefined : { edits, losses: report.list() };
  };
