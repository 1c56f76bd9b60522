const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

interface CurlCall {
  readonly url: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without one the shell has it. */
  readonly key?: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A request as a command of a shell. */
export const curlOf = ({ url, path = '/v1/chat/completions', headers = {}, key, body }: CurlCall): string =>
  [
    `curl ${body['stream'] === true ? '-N ' : ''}${quoted(url + path)}`,
    `  -H ${key === undefined ? '"x-gateway-api-key: $GATEWAY_KEY"' : quoted(`x-gateway-api-key: ${key}`)}`,
    `  -H 'content-type: application/json'`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
    `  -d ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n');

const LOCAL = 'http://127.0.0.1:8787';

/** The address of applications, as far as the gateway knows it. */
export const dataUrl = (known: { readonly data_url: string | null } | undefined): string => known?.data_url ?? LOCAL;

/** The request of the sample settings: its key works only from this machine, and only for the simulator. */
export const DEMO_BODY = { model: '@simulator/demo', messages: [{ role: 'user', content: 'hello' }] };

export const demoCurl = (url: string): string => curlOf({ url, key: 'gatehouse-demo-key', body: DEMO_BODY });
