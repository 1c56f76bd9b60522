import type {
  CacheSettings as CacheFile,
  GatewayFile,
  GatewayKey,
  Target as TargetFile,
} from '../../../../schemas/types.generated.ts';
import type { CacheSettings, Caller, GatewayConfig, Target } from '../../kernel/index.ts';

/** The parts that an add-on compiles from its own keys of keys.yaml and of gateway configs. */
export interface AddedParts {
  readonly caller?: (key: GatewayKey) => Partial<Caller>;
  readonly config?: (file: GatewayFile) => Partial<GatewayConfig>;
  /** Not called for the top of a config. @param around the target's inherited settings */
  readonly target?: (file: TargetFile, around: Partial<Target>) => Partial<Target>;
  /** @param around the settings that the cache inherits */
  readonly cache?: (file: CacheFile, around: CacheSettings | undefined) => Partial<CacheSettings>;
  /** Further fields of a key in `gatehouse keys list`; null: the key has none. */
  readonly shown?: (key: GatewayKey) => ShownLists;
}

export type ShownLists = Readonly<Record<string, readonly string[] | null>>;

const PARTS: AddedParts[] = [];

/** Called while an add-on is registered, before any settings are compiled. */
export const addParts = (parts: AddedParts): void => void PARTS.push(parts);

export const addedToCaller = (key: GatewayKey): Partial<Caller> =>
  Object.assign({}, ...PARTS.map(({ caller }) => caller?.(key)));

export const addedToConfig = (file: GatewayFile): Partial<GatewayConfig> =>
  Object.assign({}, ...PARTS.map(({ config }) => config?.(file)));

export const addedToTarget = (file: TargetFile, around: Partial<Target>): Partial<Target> =>
  Object.assign({}, ...PARTS.map(({ target }) => target?.(file, around)));

export const addedToCache = (file: CacheFile, around: CacheSettings | undefined): Partial<CacheSettings> =>
  Object.assign({}, ...PARTS.map(({ cache }) => cache?.(file, around)));

export const addedToShown = (key: GatewayKey): ShownLists =>
  Object.assign({}, ...PARTS.map(({ shown }) => shown?.(key)));
