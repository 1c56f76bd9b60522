import type { CustomHostSettings } from '../plugin/index.ts';
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
