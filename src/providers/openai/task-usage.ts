import type { Usage } from '../../formats/events.ts';
import { compact } from '../../formats/json/compact.ts';
import { isObject } from '../../formats/json/object.ts';

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/**
 * Usage of images, speech and transcriptions, which has names of its own (docs/protocols/images.md#image-usage,
 * docs/protocols/audio.md#usage). Some models count seconds. Undefined without any count.
 */
export function decodeTaskUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined;
  const seconds = raw.type === 'duration' ? count(raw.seconds) : undefined;
  if (seconds !== undefined) return { input: 0, output: 0, total: 0, seconds };
  const input = count(raw.input_tokens);
  const output = count(raw.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const details = isObject(raw.input_tokens_details) ? raw.input_tokens_details : {};
  const produced = isObject(raw.output_tokens_details) ? raw.output_tokens_details : {};
  return compact({
    input: input ?? 0,
    output: output ?? 0,
    total: count(raw.total_tokens) ?? (input ?? 0) + (output ?? 0),
    cacheRead: count(details.cached_tokens),
    inputAudio: count(details.audio_tokens),
    inputImage: count(details.image_tokens),
    outputImage: count(produced.image_tokens),
  });
}
