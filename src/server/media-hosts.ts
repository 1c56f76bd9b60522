import { Globs } from '../catalog/globs.ts';
import type { RemoteMediaSettings } from '../plugin/index.ts';

/** Where media may be fetched from, as `remote_media.hosts` lists it. */
export class MediaHosts {
  readonly #schemes: ReadonlySet<string>;
  readonly #plain: Globs;
  readonly #withPort: Globs;

  constructor({ hosts, allowInsecure }: RemoteMediaSettings) {
    this.#schemes = new Set(allowInsecure ? ['https:', 'http:'] : ['https:']);
    this.#plain = new Globs(hosts.filter((host) => !host.includes(':')));
    this.#withPort = new Globs(hosts.filter((host) => host.includes(':')));
  }

  /** A scheme that may be used, and no credentials: they would go to whoever a name leads to, and into logs. */
  isSound({ protocol, username, password }: URL): boolean {
    return this.#schemes.has(protocol) && username === '' && password === '';
  }

  /** The URL parser has made the name lower-case and ASCII, and taken away the scheme's own port. */
  allows({ hostname, port }: URL): boolean {
    return port === '' ? this.#plain.matches(hostname) : this.#withPort.matches(`${hostname}:${port}`);
  }
}
