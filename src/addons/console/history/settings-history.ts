import type { Logger } from 'pino';
import type { SettingsVersion, WrittenSettings } from '../../../core/process/console-port.ts';
import { nameOf } from '../../../core/settings/source/stored-objects.ts';
import type { Clock } from '../../../plugin/index.ts';
import { unifiedDiff } from '../drafts/unified-diff.ts';
import type { SettingsSources } from '../settings/written-settings.ts';

const MOST = 100;
/** Of all diffs together, in characters. */
const MAX_TEXTS = 2 * 1024 * 1024;
/** Masking takes time in proportion to bytes and secrets: larger files, of thousands of keys, have no history. */
const MAX_BYTES = 100_000;

/** By file, masked: no version has a secret. */
type MaskedTexts = ReadonlyMap<string, string>;

/** The versions of the settings that this process has served since its start, the latest first, each with what it changed. */
export class SettingsHistory {
  #versions: readonly SettingsVersion[] = [];
  #last: MaskedTexts | undefined;
  #reading: Promise<void> = Promise.resolve();
  readonly #written: (inForce: SettingsSources) => Promise<WrittenSettings>;
  readonly #tools: { readonly clock: Clock; readonly log: Pick<Logger, 'error'> };

  constructor(
    written: (inForce: SettingsSources) => Promise<WrittenSettings>,
    tools: { readonly clock: Clock; readonly log: Pick<Logger, 'error'> },
  ) {
    this.#written = written;
    this.#tools = tools;
  }

  add(inForce: SettingsSources): void {
    const at = this.#tools.clock.wall();
    this.#reading = this.#reading
      .then(() => this.#read(inForce, at))
      .catch((err: unknown) => this.#tools.log.error({ err }, 'a version of the settings is not in their history'));
  }

  async versions(): Promise<readonly SettingsVersion[]> {
    await this.#reading;
    return this.#versions;
  }

  async #read(inForce: SettingsSources, at: number): Promise<void> {
    const { hash, files: names, file } = await this.#written(inForce);
    const small = names.filter(({ bytes }) => bytes <= MAX_BYTES);
    const texts = new Map(small.map(({ path }) => [path, file(path)?.text ?? '']));
    const before = this.#last;
    this.#last = texts;
    const files = before ? changesOf(before, texts) : [];
    if (before && files.length === 0) return;
    const by = writerOf(files, inForce);
    const all = [{ hash, at, ...(by !== undefined && { by }), files }, ...this.#versions];
    let left = MAX_TEXTS;
    this.#versions = all.slice(0, MOST).map((version) => {
      left -= version.files.reduce((sum, { patch = '' }) => sum + patch.length, 0);
      return left >= 0 ? version : { ...version, files: version.files.map(({ path }) => ({ path })) };
    });
  }
}

/** Who wrote the one object of the state store that has changed. Undefined: files have changed, or it was deleted. */
function writerOf(files: SettingsVersion['files'], { settings }: SettingsSources): string | undefined {
  const [first, ...others] = files;
  const id = /^store\/configs\/(.+)$/.exec(first?.path ?? '')?.[1];
  if (id === undefined || others.length > 0) return undefined;
  return settings.stored?.objects.get(nameOf({ kind: 'configs', id }))?.by;
}

function changesOf(before: MaskedTexts, after: MaskedTexts): SettingsVersion['files'] {
  return [...new Set([...before.keys(), ...after.keys()])].toSorted().flatMap((path) => {
    const [one, other] = [before.get(path) ?? '', after.get(path) ?? ''];
    return one === other ? [] : [{ path, patch: unifiedDiff(path, { before: one, after: other })?.text ?? '' }];
  });
}
