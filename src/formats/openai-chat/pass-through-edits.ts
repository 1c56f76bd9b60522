import type { BodyEdit, BodyView, RequestTarget } from '../format.ts';

const source = 'gateway';

/**
 * The target's own model name, and a usage chunk on every stream: without it the gateway could not count what it passes on. Where the
 * server refuses `stream_options`, those of the caller are the caller's matter.
 */
export function passThroughEdits(body: BodyView, target: RequestTarget): readonly BodyEdit[] {
  const edits: BodyEdit[] = [];
  if (body.value('model') !== target.model) edits.push({ path: ['model'], value: target.model, source });
  if (target.streamUsage !== false && body.has('stream') && body.value('stream') === true) {
    const options = body.has('stream_options') ? body.value('stream_options') : undefined;
    const given = typeof options === 'object' && options !== null ? options : {};
    if (!('include_usage' in given) || given.include_usage !== true) {
      edits.push({ path: ['stream_options'], value: { ...given, include_usage: true }, source });
    }
  }
  return edits;
}
