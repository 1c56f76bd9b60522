/**
 * What the SDK writes in other words: each is put into ours before the comparison, so that what stands under it is still
 * compared. All else that differs is in differences.ts.
 */
import type { Json } from './outbound.ts';
import type { Family } from './sdk-words.ts';

export interface Spelling {
  readonly families: readonly Family[];
  readonly reason: string;
  /** Gives an object of the SDK's body in our words; undefined where it is not about that object. */
  readonly reword: (theirs: Json) => Json | undefined;
}

export const SPELLINGS: readonly Spelling[] = [
  {
    families: ['gemini'],
    reason:
      'docs/protocols/requests.md#json-schema-for-gemini: of the two carriers of a function’s schema the JSON Schema one is chosen for Gemini 2.0 and later',
    reword: ({ parameters, ...rest }) =>
      parameters !== undefined && 'name' in rest ? { ...rest, parametersJsonSchema: parameters } : undefined,
  },
  {
    families: ['gemini'],
    reason: 'docs/protocols/requests.md#json-schema-for-gemini: likewise for the schema of an answer',
    reword: ({ responseSchema, ...rest }) =>
      responseSchema === undefined ? undefined : { ...rest, responseJsonSchema: responseSchema },
  },
  {
    families: ['gemini'],
    reason:
      'docs/protocols/gemini.md#function-response: `output` is the key Gemini recognises; the SDK’s {name, content} would be read as a whole',
    reword: ({ response, ...rest }) => {
      const own = response as Json | undefined;
      return own && 'content' in own ? { ...rest, response: { output: own['content'] } } : undefined;
    },
  },
  {
    families: ['gemini'],
    reason:
      'docs/protocols/gemini.md#protobuf-json: the names of levels are in capitals; protobuf JSON of the SDK’s spelling is not documented',
    reword: ({ thinkingLevel, ...rest }) =>
      typeof thinkingLevel === 'string' ? { ...rest, thinkingLevel: thinkingLevel.toUpperCase() } : undefined,
  },
  {
    families: ['claude', 'claudeOnVertex'],
    reason:
      'docs/protocols/anthropic-messages.md#tool-result: the content of a result is a text or blocks; blocks are what keeps media and markers too',
    reword: ({ content, ...rest }) =>
      rest['type'] === 'tool_result' && typeof content === 'string'
        ? { ...rest, ...(content !== '' && { content: [{ type: 'text', text: content }] }) }
        : undefined,
  },
];

/** `used` gets those that had something to reword. */
export function reworded(theirs: unknown, family: Family, used: Set<Spelling>): unknown {
  if (Array.isArray(theirs)) return theirs.map((item) => reworded(item, family, used));
  if (typeof theirs !== 'object' || theirs === null) return theirs;
  let object = theirs as Json;
  for (const spelling of SPELLINGS) {
    const ours = spelling.families.includes(family) ? spelling.reword(object) : undefined;
    if (!ours) continue;
    used.add(spelling);
    object = ours;
  }
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, reworded(value, family, used)]));
}
