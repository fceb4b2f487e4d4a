import type { Deployment } from './deployment.js';
import type { Finding, Level } from './finding.js';
import type { DoctorNode } from './node.js';
import type { Settings } from './settings.js';

/** Adds one finding. `what`: the observation. `fix`: the remedy. */
type Add<Id> = (id: Id, what: string, fix: string) => void;

/** Receives the findings of a check. `ok`: the check ran and found no problem. */
export interface Report<Id extends string = string> {
  ok(what: string): void;
  readonly note: Add<Id>;
  readonly warning: Add<Id>;
  readonly error: Add<Id>;
}

/** The findings of one check, each with its reason. `about` is also the id of its `ok`. */
interface Described<Id extends string> {
  readonly about: string;
  readonly why: Readonly<Record<Id, string>>;
}

/** Examines one server after the other. */
export interface NodeCheck<Id extends string = string> extends Described<Id> {
  /** Selects the servers. Default: all. */
  readonly of?: 'primaries';
  look(node: DoctorNode, report: Report<Id>, settings: Settings, deployment: Deployment): unknown;
}

/** Examines all servers together. */
export interface DeploymentCheck<Id extends string = string> extends Described<Id> {
  compare(deployment: Deployment, report: Report<Id>, settings: Settings): unknown;
}

export type Check = NodeCheck | DeploymentCheck;

export const nodeCheck = <Id extends string>(check: NodeCheck<Id>): Check => check as NodeCheck;
export const deploymentCheck = <Id extends string>(check: DeploymentCheck<Id>): Check =>
  check as DeploymentCheck;

export function reportInto(
  findings: Finding[],
  { about, why }: Described<string>,
  node?: Pick<DoctorNode, 'name'>,
): Report<string> {
  const of = node === undefined ? {} : { node: node.name };
  const add =
    (level: Level): Add<string> =>
    (id, what, fix) => {
      findings.push({ id, level, what, why: why[id]!, fix, ...of });
    };
  return {
    ok: (what) => void findings.push({ id: about, level: 'ok', what, why: '', fix: '', ...of }),
    note: add('note'),
    warning: add('warning'),
    error: add('error'),
  };
}
