import type { JsonObject } from './conversation.ts';
import { isObject } from './openai-chat/read.ts';

/**
 * A whole reply with images as the stream its client asked for (wire.md A8): without drafts, each image is complete at once.
 * Usage is of the whole request and goes with the last one, so that who adds it up counts it once.
 */
export function asImageEvents({ created, data, usage, ...others }: JsonObject): string {
  const images = Array.isArray(data) ? data.filter(isObject) : [];
  return images
    .map((image, index) => {
      const last = index === images.length - 1;
      const type = 'image_generation.completed';
      const event = { type, created_at: created, ...image, ...others, ...(last && usage !== undefined && { usage }) };
      return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}
