import type { BodyEdit, BodyView, RequestTarget } from '../format.ts';
import { VERTEX_VERSION } from './encode-extras.ts';

const source = 'gateway';

/** The API has the model in the body; Vertex has it in the path and a version in the body instead (wire.md C3). */
export function passThroughEdits(body: BodyView, target: RequestTarget): readonly BodyEdit[] {
  if (target.host === 'direct')
    return body.value('model') === target.model ? [] : [{ path: ['model'], value: target.model, source }];
  const model: BodyEdit = { path: ['model'], value: undefined, source };
  return body.has('anthropic_version')
    ? [model]
    : [model, { path: ['anthropic_version'], value: VERTEX_VERSION, source }];
}
