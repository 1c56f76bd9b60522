import { curlOf } from '../../api/curl.ts';
import type { ShownExplanation, ShownRequest } from '../../api/shapes.ts';

/** The request of a record as a command. A body that is not kept has its model, and a text in place of its messages. */
export function curlOfRecord(url: string, request: ShownRequest, kept: ShownExplanation | undefined): string {
  const { attempts, alias, config, metadata = {}, path, stream } = request;
  const [first] = attempts;
  const model =
    kept?.request.model ??
    alias ??
    (first?.request_model === undefined ? 'MODEL' : `@${first.provider}/${first.request_model}`);
  const body = kept?.targets[0]?.body ?? {
    messages: [{ role: 'user', content: 'TEXT' }],
    ...(stream === true && { stream }),
  };
  const isDefault = ['key', 'server'].includes(kept?.config?.found ?? '');
  return curlOf({
    url,
    ...(path !== undefined && { path }),
    headers: {
      ...(config && !isDefault && { 'x-gateway-config': config.id }),
      ...(Object.keys(metadata).length > 0 && { 'x-gateway-metadata': JSON.stringify(metadata) }),
    },
    body: { ...body, model },
  });
}
