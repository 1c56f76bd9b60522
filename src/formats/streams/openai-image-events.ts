import type { JsonObject } from '../conversation.ts';
import { isObject } from '../json/object.ts';

const MAX_REPEATED_FIELDS = 4096;

/**
 * A whole reply with images as the stream that its client asked for (docs/protocols/images.md#openai-stream): without drafts, each image
 * is complete at once. Usage covers the whole request and stands on the last event, so that a client that adds it up counts it once.
 * Small fields of the reply stand in each event; large sets of them stand in the first alone, or a stream of many images would be a
 * multiple of the received reply.
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
