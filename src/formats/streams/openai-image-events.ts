import type { JsonObject } from '../conversation.ts';
import { isObject } from '../json/object.ts';

const MAX_REPEATED_FIELDS = 4096;

/**
 * A whole image reply as the stream that its client requested (docs/protocols/images.md#openai-stream). There are no
 * partial images: each image is complete at once. Usage covers the whole request and is on the last event, so that a
 * client that sums it counts it once. Small fields of the reply are repeated in each event. Large sets of them are in
 * the first event only, or a stream of many images would be a multiple of the received reply.
 */
export function asImageEvents({ created, data, usage, ...others }: JsonObject): string {
  const images = Array.isArray(data) ? data.filter(isObject) : [];
  const repeated = JSON.stringify(others).length <= MAX_REPEATED_FIELDS ? others : {};
  return images
    .map((image, index) => {
      const last = index === images.length - 1;
      const type = 'image_generation.completed';
      const shared = index === 0 ? others : repeated;
      const event = { type, created_at: created, ...image, ...shared, ...(last && usage !== undefined && { usage }) };
      return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}
