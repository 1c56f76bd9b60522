import type { GatewayFile, GatewayKey } from '../../../../schemas/types.generated.ts';
import type { Caller, GatewayConfig } from '../../../plugin/index.ts';

/** What an add-on compiles from its own keys of keys.yaml and of gateway configs. */
export interface AddedParts {
  readonly caller?: (key: GatewayKey) => Partial<Caller>;
  readonly config?: (file: GatewayFile) => Partial<GatewayConfig>;
}

const PARTS: AddedParts[] = [];

/** Called while an add-on is registered, before any settings are compiled. */
export const addParts = (parts: AddedParts): void => void PARTS.push(parts);

export const addedToCaller = (key: GatewayKey): Partial<Caller> =>
  Object.assign({}, ...PARTS.map(({ caller }) => caller?.(key)));

export const addedToConfig = (file: GatewayFile): Partial<GatewayConfig> =>
  Object.assign({}, ...PARTS.map(({ config }) => config?.(file)));
