import type { Usage } from '../../../formats/events.ts';
import { claimOf, outputWithin, sound } from '../../../formats/counts.ts';
import { compact, isObject } from '../../../formats/json/object.ts';

/**
 * Usage of images, speech and transcriptions, which has names of its own (docs/protocols/images.md#image-usage,
 * docs/protocols/audio.md#usage). Some models count seconds. Undefined without any count.
 */
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
