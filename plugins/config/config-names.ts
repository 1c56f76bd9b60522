import {
  namesOf,
  pathsOf,
  type Exchange,
  type FieldNames,
  type GatewayConfig,
  type Operation,
} from '../../src/plugin/index.ts';

/**
 * The fields that configs set, delete or read in conditions. They are checked before any target is tried, so that the
 * result does not depend on the target.
 */
export class ConfigNames {
  readonly #known = new WeakMap<GatewayConfig, Map<Operation['fields'], FieldNames>>();

  /** Throws GatewayError `ambiguous_parameter`. */
  check(config: GatewayConfig, { operation, request: { body } }: Exchange): void {
    if (!operation || !body) return;
    let ofConfig = this.#known.get(config);
    if (!ofConfig) this.#known.set(config, (ofConfig = new Map<Operation['fields'], FieldNames>()));
    let names = ofConfig.get(operation.fields);
    if (!names) ofConfig.set(operation.fields, (names = namesOf(pathsOf(config), operation.fields)));
    if (!names.empty) names.check(body);
  }
}
