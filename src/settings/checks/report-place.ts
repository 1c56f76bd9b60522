import type { Report } from '../../plugin/index.ts';
import type { JsonPath } from '../read/pointer.ts';

/** A place in a settings file, and where to report what is wrong there. */
export interface ReportPlace {
  readonly path: JsonPath;
  readonly report: Report;
}
