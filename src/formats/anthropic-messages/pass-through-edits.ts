import type { BodyEdit, BodyView, RequestTarget } from '../format.ts';
import { VERTEX_VERSION } from './encode-extras.ts';

const source = 'gateway';

/** The API has the model in the body; Vertex has it in the path (wire.md C3), but for a count of tokens (C2). */
export function isModelInBody({ host, modelInBody }: RequestTarget): boolean {
  return host === 'direct' || modelInBody === true;
}

/** The model as this place has it, and on Vertex a version in the body (wire.md C3). */
export function passThroughEdits(body: BodyView, target: RequestTarget): readonly BodyEdit[] {
  const model = isModelInBody(target) ? target.model : undefined;
  const edits: BodyEdit[] = body.value('model') === model ? [] : [{ path: ['model'], value: model, source }];
  if (target.host === 'vertex' && !body.has('anthropic_version'))
    edits.push({ path: ['anthropic_version'], value: VERTEX_VERSION, source });
  return edits;
}
