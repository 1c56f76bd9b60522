import type { Conversation, JsonObject } from '../conversation.ts';
import type { Origins } from '../losses/origins.ts';
import { decodeConfig } from './decode-config.ts';
import { decodeContents } from './decode-contents.ts';
import { decodeTools } from './decode-tools.ts';
import { asList, leftover, optional, pick } from './wire.ts';
import { absorb, objectOf } from '../json/object.ts';
import { stringOf } from '../json/read.ts';

const KNOWN = new Set(
  'model stream contents systemInstruction tools toolConfig safetySettings generationConfig labels'.split(' '),
);

const TIERS = new Map<unknown, string>([
  ['standard', 'default'],
  ['flex', 'flex'],
  ['priority', 'priority'],
]);

/**
 * Decodes the body of generateContent or streamGenerateContent. Model and streaming are in the URL of this API. The
 * operation that reads the URL puts them into the body as `model` and `stream`, as in all other APIs.
 */
export function decodeRequest(body: JsonObject, origins?: Origins): Conversation {
  const { fields, rest } = decodeConfig(pick(body, 'generationConfig'));
  const {
    tools,
    toolChoice,
    extras: toolExtras,
  } = decodeTools({ tools: pick(body, 'tools'), toolConfig: pick(body, 'toolConfig') }, origins);
  const tier = pick(body, 'serviceTier');
  const serviceTier = TIERS.get(typeof tier === 'string' ? tier.toLowerCase() : tier);
  const known = serviceTier === undefined ? KNOWN : new Set([...KNOWN, 'serviceTier']);
  const extras = leftover(body, known) ?? {};
  absorb(extras, { ...toolExtras, ...optional('generationConfig', rest) });
  const safetySettings = pick(body, 'safetySettings');
  return {
    model: (stringOf(body['model']) ?? '').replace(/^models\//, ''),
    stream: body['stream'] === true,
    turns: decodeContents(pick(body, 'systemInstruction'), pick(body, 'contents'), origins),
    ...fields,
    ...optional('tools', tools),
    ...optional('toolChoice', toolChoice),
    ...(safetySettings !== undefined && { safetySettings: asList(safetySettings) }),
    ...optional('labels', objectOf(pick(body, 'labels'))),
    ...optional('serviceTier', serviceTier),
    ...(Object.keys(extras).length > 0 && { extras, extrasFormat: 'gemini' }),
  };
}
