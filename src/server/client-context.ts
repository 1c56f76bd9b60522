import type { ClientContext } from '../formats/format.ts';
import type { Attempt, Clock, Exchange, RequestBody, ResolvedTarget } from '../plugin/index.ts';

/** How the client wants its reply, by the API it speaks. */
export function clientContext(
  exchange: Exchange,
  attempt: Attempt,
  resolved: ResolvedTarget,
  clock: Clock,
): ClientContext {
  const created = Math.floor(clock.wall() / 1000);
  const id = exchange.id.replaceAll('-', '');
  const { body, target } = attempt;
  if (exchange.operation?.format.name === 'anthropic-messages') {
    // The compliance header is about OpenAI's fields, and a reply of this API has none: it is accepted, for clients that set it on
    // everything, and changes nothing. What the switch does there, asking for thoughts or not, is said in the body here.
    const strict = !asksForThinking(body);
    const shown = { hideThoughts: strict, ownId: true, includeUsage: false };
    return { id: `msg_${id}`, created, strict, ...shown, model: resolved.model };
  }
  const streamOptions = body.has('stream_options') ? body.value('stream_options') : undefined;
  return {
    id: `chatcmpl-${id}`,
    created,
    strict: exchange.strict ?? target.strict ?? true,
    includeUsage: isObject(streamOptions) && streamOptions['include_usage'] === true,
    model: resolved.model,
    functionCalls: body.has('functions') && !body.has('tools'),
  };
}

/** wire.md B2: both ways to switch it on; `display: omitted` asks for thinking that is not shown. */
function asksForThinking(body: RequestBody): boolean {
  const thinking = body.has('thinking') ? body.value('thinking') : undefined;
  if (!isObject(thinking) || thinking['display'] === 'omitted') return false;
  return thinking['type'] === 'enabled' || thinking['type'] === 'adaptive';
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
