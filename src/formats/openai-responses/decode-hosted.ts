import type { JsonObject, Part } from '../conversation.ts';
import { compact, objectOf, listOf, stringOf } from '../json/object.ts';
import type { LossReport } from '../losses/losses.ts';
import { BodyPlace } from '../losses/place.ts';
import { mcpParts } from './mcp-items.ts';

/** The parts of a hosted tool's item, as `encode-reply.ts` writes it. None for an item that only names its content. */
export function hostedParts(item: JsonObject, path: BodyPlace, losses: LossReport): readonly Part[] {
  if (item.type === 'mcp_call') return mcpParts(item, `mcp_${String(path).replace(/\W+/g, '_')}`) ?? [];
  return item.type === 'image_generation_call' ? pictureOf(item) : codeOf(item, path, losses);
}

function pictureOf(item: JsonObject): readonly Part[] {
  const data = stringOf(item.result);
  if (!data) return [];
  const mime = `image/${stringOf(item.output_format) ?? 'png'}`;
  return [{ type: 'media', media: 'image', mime, source: { kind: 'data', data } }];
}

function codeOf(item: JsonObject, path: BodyPlace, losses: LossReport): readonly Part[] {
  const code = stringOf(item.code);
  if (code === undefined) return [];
  const container = stringOf(item.container_id);
  // OpenAI's containers, and names that the gateway made where a model has none, mean nothing elsewhere.
  const id = container?.startsWith('cntr_') ? undefined : container;
  const run = compact({ type: 'code' as const, language: 'PYTHON', code, id });
  const outputs = listOf(item.outputs);
  if (!outputs) return [run];
  let output = '';
  outputs.forEach((one, at) => {
    const logs = stringOf(objectOf(one)?.logs);
    if (logs !== undefined) output += logs;
    else losses.dropped(BodyPlace.itemOf(path, 'outputs', at), 'other APIs have only the text that code wrote');
  });
  const outcome = item.status === 'failed' ? 'OUTCOME_FAILED' : 'OUTCOME_OK';
  return [run, compact({ type: 'code_result' as const, outcome, output, id })];
}
