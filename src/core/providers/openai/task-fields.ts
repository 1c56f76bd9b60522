import { toCamel } from '../../../formats/json/field-names.ts';
import { LossReport } from '../../../formats/losses/losses.ts';
import type { BodyEdit } from '../../../formats/body-view.ts';
import { NOT_TAKEN } from '../../../formats/openai-chat/extensions.ts';
import type { PassThroughCodec } from '../codec.ts';
import type { Usage } from '../../../formats/events.ts';
import { claimOf, outputWithin, sound } from '../../../formats/counts.ts';
import { compact, isObject } from '../../../formats/json/object.ts';

export const renameModel: PassThroughCodec['edits'] = (body, model) =>
  body.value('model') === model ? [] : [{ path: ['model'], value: model, source: 'gateway' }];

export const streamsByField: NonNullable<PassThroughCodec['streams']> = (body) => body.value('stream') === true;

/** Fields that request events. Embeddings and moderations have none, and no client of these APIs reads them. */
export const EVENT_FIELDS = ['stream', 'stream_options'] as const;

/**
 * Takes top-level fields out of a body, in both spellings. A null counts as omitted (docs/protocols/requests.md#nulls).
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

/** docs/protocols/images.md#image-usage, docs/protocols/audio.md#usage. Undefined without any count. */
export function decodeTaskUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined;
  // Seconds may have a fraction, unlike tokens.
  if (raw.type === 'duration' && typeof raw.seconds === 'number')
    return sound({ input: 0, output: 0, total: 0, seconds: raw.seconds });
  const input = claimOf(raw.input_tokens);
  const given = claimOf(raw.output_tokens);
  if (input === undefined && given === undefined) return undefined;
  const output = outputWithin(claimOf(raw.total_tokens), input, given);
  const details = isObject(raw.input_tokens_details) ? raw.input_tokens_details : {};
  const produced = isObject(raw.output_tokens_details) ? raw.output_tokens_details : {};
  const usage = compact({
    input: input ?? 0,
    output,
    total: (input ?? 0) + output,
    cacheRead: claimOf(details.cached_tokens),
    inputAudio: claimOf(details.audio_tokens),
    inputImage: claimOf(details.image_tokens),
    outputImage: claimOf(produced.image_tokens),
  });
  return sound(usage);
}
