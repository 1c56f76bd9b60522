import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent, Usage } from '../events.ts';
import { inBytes, type ClientContext, type Format } from '../format.ts';
import { compactionItem } from './compaction-item.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeUsage } from './response-object.ts';
import { askForSummary } from './summary-request.ts';

/** `POST /v1/responses/compact` for models of other APIs: a turn whose answer is a summary, in an envelope. */
export const compaction: Pick<Format, 'decodeRequest' | 'encodeReply' | 'echo'> = {
  decodeRequest(body, origins) {
    return askForSummary(decodeRequest(body, origins), origins);
  },
  encodeReply: inBytes((events, client) => {
    const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
    return compactionObject(client, compactionItem(text, client), usageOf(events));
  }),
  echo: () => ({ fields: {}, tools: new Map() }),
};

function compactionObject({ id, created }: ClientContext, item: JsonObject, usage: Usage | undefined): JsonObject {
  return {
    id,
    object: 'response.compaction',
    created_at: created,
    output: [item],
    usage: encodeUsage(usage ?? { input: 0, output: 0, total: 0 }),
  };
}

const usageOf = (events: readonly GenerationEvent[]): Usage | undefined =>
  events.findLast((event) => event.type === 'usage')?.usage;
