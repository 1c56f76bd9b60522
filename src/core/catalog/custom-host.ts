import { GatewayError } from '../../plugin/index.ts';
import type { CustomHostSettings } from '../../plugin/config.ts';
import type { Exchange } from '../kernel/index.ts';
import { createCustomHost } from '../providers/openai/index.ts';
import { quote } from '../providers/model-name.ts';
import type { Access } from './access.ts';
import type { CatalogEntry } from './catalog.ts';
import { Globs } from './globs.ts';

/** Hosts that callers may make the gateway call, as listed in `remote_media` and `custom_hosts`. */
export class AllowedHosts {
  readonly #schemes: ReadonlySet<string>;
  readonly #plain: Globs;
  readonly #withPort: Globs;

  constructor({ hosts, allowInsecure }: CustomHostSettings) {
    this.#schemes = new Set(allowInsecure ? ['https:', 'http:'] : ['https:']);
    this.#plain = new Globs(hosts.filter((host) => !host.includes(':')));
    this.#withPort = new Globs(hosts.filter((host) => host.includes(':')));
  }

  /** Allows an accepted scheme and no credentials, which would be sent to any host that the name resolves to, and logged. */
  isAllowed({ protocol, username, password }: URL): boolean {
    return this.#schemes.has(protocol) && username === '' && password === '';
  }

  /** The URL parser has converted the name to lower-case ASCII and removed the scheme's default port. */
  allows({ hostname, port }: URL): boolean {
    return port === '' ? this.#plain.matches(hostname) : this.#withPort.matches(`${hostname}:${port}`);
  }
}

const HEADER = 'custom-host';

/** The longest name (RFC 1035, section 2.3.4); error messages repeat the name, so it must be bounded. */
const MAX_HOSTNAME = 253;

/** Settings are the same object for every request, so their hosts are compiled once. */
const known = new WeakMap<CustomHostSettings, AllowedHosts>();

/** The upstream whose address a request sends in `x-gateway-custom-host`; undefined without the header. */
export function customHost(exchange: Exchange, access: Access): CatalogEntry | undefined {
  const address = exchange.request.header(HEADER);
  if (address === undefined) return undefined;
  const url = readAddress(address, exchange);
  const settings = [exchange.caller?.customHosts, ofConfig(exchange, access)].find((each) => each && allows(each, url));
  if (!settings)
    throw new GatewayError(
      'provider_not_allowed',
      `Neither this key nor the gateway config allows ${exchange.request.headerName(HEADER)} to name ${quote(url.host)} (custom_hosts).`,
    );
  const provider = createCustomHost(url, settings.allowInsecure);
  return { provider, name: 'a custom host', models: undefined, connections: undefined, timeouts: {} };
}

/** For a key restricted to certain catalog entries, only its own `custom_hosts` counts, not the config's. */
const ofConfig = ({ config }: Exchange, access: Access): CustomHostSettings | undefined =>
  access.allowsProvider('openai') ? config?.customHosts : undefined;

function allows(settings: CustomHostSettings, url: URL): boolean {
  let hosts = known.get(settings);
  if (!hosts) known.set(settings, (hosts = new AllowedHosts(settings)));
  return hosts.isAllowed(url) && hosts.allows(url);
}

function readAddress(address: string, { request }: Exchange): URL {
  // The parser would turn a backslash into a slash and drop some spaces; a header that was sent twice contains a space too.
  if (/[\s\\]/.test(address)) throw unusable('contains a space or a backslash');
  const url = URL.parse(address);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw unusable('is not an http(s) URL');
  if (url.hostname.length > MAX_HOSTNAME) throw unusable(`names a host of more than ${MAX_HOSTNAME} characters`);
  // Credentials would appear in logs and errors, and be sent to any host that the name resolves to.
  if (url.username || url.password) throw unusable('contains credentials: send the token in `Authorization`');
  if (url.search || url.hash) throw unusable('has a query or a fragment');
  return url;

  function unusable(why: string): GatewayError {
    return new GatewayError('invalid_header', `${request.headerName(HEADER)} ${why}.`);
  }
}
