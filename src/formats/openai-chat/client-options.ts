import type { BodyView, ClientAsked, ClientOptions } from '../format.ts';
import { isObject } from '../json/object.ts';

export function readClient(body: BodyView, { id, strict }: ClientAsked): ClientOptions {
  const options = body.has('stream_options') ? body.value('stream_options') : undefined;
  return {
    id: `chatcmpl-${id}`,
    strict,
    includeUsage: isObject(options) && options['include_usage'] === true,
    functionCalls: body.has('functions') && !body.has('tools'),
  };
}
