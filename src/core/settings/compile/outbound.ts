import { unescape } from 'node:querystring';
import type { ServerFile } from '../../../../schemas/types.generated.ts';
import { Secret } from '../../../plugin/index.ts';
import type { Report } from '../../kernel/report.ts';
import { showValue } from '../values/show.ts';
import type { Environment } from '../values/references.ts';
import { parseNetwork } from './networks.ts';

/** A proxy, as src/core/upstream takes it. */
interface ProxySettings {
  readonly url: string;
  readonly credentials: Secret | undefined;
}

/** How the gateway reaches upstreams, without the content of files. */
export interface OutboundSettings {
  readonly proxies: { readonly https?: ProxySettings | undefined; readonly http?: ProxySettings | undefined };
  readonly noProxy: readonly string[];
}

type Egress = NonNullable<ServerFile['egress']>;

const DIRECT: OutboundSettings = { proxies: {}, noProxy: [] };

/** Variables count only with `proxy: env`: set for other programs, they would send prompts through their proxy. */
export function compileOutbound(egress: Egress | undefined, env: Environment, report: Report): OutboundSettings {
  const { proxy = 'none', proxy_credentials: credentials, no_proxy: noProxy } = egress ?? {};
  if (proxy === 'none' || proxy === 'env') {
    const reportUnused = (key: string, variable: string): void => {
      const message =
        proxy === 'env'
          ? `\`${key}\` has no effect with \`proxy: env\`: ${variable}`
          : `\`${key}\` has no effect without \`proxy\`: name the proxy, or remove this`;
      report({ path: [key], on: 'key', message });
    };
    if (credentials !== undefined) reportUnused('proxy_credentials', 'write them in the URLs of the variables');
    if (noProxy !== undefined) reportUnused('no_proxy', 'set the variable NO_PROXY');
  }
  if (proxy === 'none') return DIRECT;
  if (proxy === 'env') return fromEnvironment(env, report);
  for (const [index, entry] of (noProxy ?? []).entries()) checkEntry(entry, index, report);
  const server = { url: new URL(proxy).origin, credentials };
  return { proxies: { https: server, http: server }, noProxy: noProxy ?? [] };
}

function checkEntry(entry: string, index: number, report: Report): void {
  const isName = /^(?:\*|(?:\*?\.)?[A-Za-z0-9_-][A-Za-z0-9._-]*(?::\d{1,5})?)$/.test(entry);
  const isAddress = /^(?:\[[0-9A-Fa-f:.]+\](?::\d{1,5})?|[0-9A-Fa-f:.]+)$/.test(entry);
  if (isName || isAddress || parseNetwork(entry)) return;
  const message = `${showValue(entry, undefined)} is no host name, address or network in CIDR notation, such as ".internal.example.com" or "10.0.0.0/8"`;
  report({ path: ['no_proxy', index], message });
}

/** Upper and lower case are both common; where both are set, the lower one counts, as in curl. */
const variable = (env: Environment, name: string): { readonly name: string; readonly text: string } | undefined =>
  [name.toLowerCase(), name]
    .map((one) => ({ name: one, text: env[one]?.trim() ?? '' }))
    .find(({ text }) => text !== '');

function fromEnvironment(env: Environment, report: Report): OutboundSettings {
  const read = (name: string): ProxySettings | undefined => {
    const found = variable(env, name);
    return found && readProxy(found, report);
  };
  const proxies = { https: read('HTTPS_PROXY'), http: read('HTTP_PROXY') };
  const message = 'neither HTTPS_PROXY nor HTTP_PROXY is set, so upstreams are reached without a proxy';
  if (!proxies.https && !proxies.http) report({ path: ['proxy'], severity: 'warning', message });
  const noProxy = variable(env, 'NO_PROXY')?.text.split(/[\s,]+/) ?? [];
  return { proxies, noProxy: noProxy.filter((entry) => entry !== '') };
}

/** Messages quote nothing of the variable, which may hold a password. */
function readProxy(
  { name, text }: { readonly name: string; readonly text: string },
  report: Report,
): ProxySettings | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    const message = `the variable ${name} is not the URL of an http or https proxy, such as http://proxy.example.com:3128`;
    report({ path: ['proxy'], message });
    return undefined;
  }
  const { username, password } = url;
  if (username === '' && password === '') return { url: url.origin, credentials: undefined };
  // `unescape` leaves what is no escape as it is.
  const login = `${unescape(username)}:${unescape(password)}`;
  return { url: url.origin, credentials: new Secret(login, `env:${name}`) };
}
