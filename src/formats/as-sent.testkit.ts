import type { JsonObject } from './conversation.ts';
import { writeJson } from './json/text.ts';

/** A body as its upstream reads it. Before writing, long arguments are still JSON texts (json/text.ts). */
export const asSent = (body: JsonObject): JsonObject => JSON.parse(writeJson(body)) as JsonObject;
