// Holds dashboards to Grafana's published schema, which Grafana publishes as TypeScript types
// (@grafana/schema): keys that do not exist, values of a wrong type and missing keys are errors, in
// the dashboard and in each panel's options, field settings and Prometheus queries.
//
// JSON is an expression of TypeScript, so each part of a dashboard becomes a constant of its type,
// and the compiler says what does not fit. Nothing is compiled to anything.
"use strict";

const fs = require("fs");
const path = require("path");
const ts = require("typescript");

const composable = "@grafana/schema/dist/esm/raw/composable";

// How each kind of panel may be set up. What stands here is what our dashboards use.
const kinds = {
  stat: "stat/panelcfg/x/StatPanelCfg_types.gen",
  bargauge: "bargauge/panelcfg/x/BarGaugePanelCfg_types.gen",
  heatmap: "heatmap/panelcfg/x/HeatmapPanelCfg_types.gen",
  table: "table/panelcfg/x/TablePanelCfg_types.gen",
  timeseries: "timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen",
  "state-timeline": "statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen",
};
const has_custom = ["table", "timeseries", "state-timeline"];

const type_of = (kind) => kind.replace("-", "_");

const prelude = () => {
  const lines = [
    "import * as raw from '@grafana/schema/dist/esm/raw/dashboard/x/dashboard_types.gen';",
    `import { PrometheusDataQuery } from '${composable}/prometheus/dataquery/x/PrometheusDataQuery_types.gen';`,
    // As JSON has it: the values of enumerations are plain texts there.
    `type Plain<T> = 0 extends 1 & T ? any : unknown extends T ? any
       : T extends string ? \`\${T}\` : T extends number | boolean | null | undefined ? T
       : T extends Array<infer E> ? Array<Plain<E>> : { [K in keyof T]: Plain<T[K]> };`,
    `type Source = { type: 'prometheus'; uid: string };`,
    `type Query = Omit<PrometheusDataQuery, 'datasource'> & { datasource: Source };`,
    `type Field<C> = Omit<raw.FieldConfigSource, 'defaults'> &
       { defaults: Omit<raw.FieldConfig, 'custom'> & { custom?: C } };`,
    `type Panel<T, O, C> =
       Omit<raw.Panel, 'type' | 'options' | 'targets' | 'fieldConfig' | 'datasource'> &
       { type: T; options: O; targets: Query[]; fieldConfig: Field<C>; datasource: Source };`,
    // The schema leaves to data sources what else an annotation has; this is Prometheus's part,
    // as its documentation and its code name it.
    `type Annotation = raw.AnnotationQuery & { expr: string; step?: string; titleFormat?: string;
       textFormat?: string; tagKeys?: string; useValueForTime?: boolean };`,
  ];
  for (const [kind, file] of Object.entries(kinds)) {
    const custom = has_custom.includes(kind) ? `${type_of(kind)}.FieldConfig` : "never";
    lines.push(`import * as ${type_of(kind)} from '${composable}/${file}';`);
    lines.push(`type ${type_of(kind)}_panel = Plain<Panel<'${kind}', ${type_of(kind)}.Options, ${custom}>>;`);
  }
  return lines;
};

// One constant for each part: [where, type, value].
function parts_of(dashboard) {
  const { panels = [], annotations = {}, ...rest } = dashboard;
  const parts = [["", "Plain<Omit<raw.Dashboard, 'panels' | 'annotations'>>", rest]];
  const { list = [], ...others } = annotations;
  parts.push(["annotations", "Plain<Omit<raw.AnnotationContainer, 'list'>>", others]);
  for (const each of list) parts.push([`annotation '${each.name}'`, "Plain<Annotation>", each]);
  for (const panel of panels) {
    const type = panel.type === "row" ? "Plain<raw.RowPanel>"
      : panel.type in kinds ? `${type_of(panel.type)}_panel` : "never /* unknown kind of panel */";
    parts.push([`panel '${panel.title}'`, type, panel]);
  }
  return parts;
}

function source_of(dashboard) {
  const lines = prelude();
  const places = [];
  parts_of(dashboard).forEach(([where, type, value], i) => {
    const text = JSON.stringify(value, null, 1);
    places.push({ begin: lines.join("\n").length, where });
    lines.push(`export const part_${i}: ${type} =\n${text};`);
  });
  return { text: lines.join("\n"), places };
}

const settings = {
  strict: true, noEmit: true, skipLibCheck: true, types: [],
  target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.Node10,
};

// The types are read once for all files.
const types = new Map();

function type_file(read, file, ...more) {
  if (!types.has(file)) types.set(file, read(file, ...more));
  return types.get(file);
}

// Complaints about one file, as texts.
function check(file) {
  let dashboard;
  try {
    dashboard = JSON.parse(fs.readFileSync(file, "utf8"));
  } catch (error) {
    return [error.message];
  }
  const { text, places } = source_of(dashboard);
  const name = path.join(__dirname, "dashboard.ts");  // exists in memory only, beside node_modules
  const host = ts.createCompilerHost(settings);
  const read = host.getSourceFile;
  host.getSourceFile = (wanted, ...more) => wanted === name
    ? ts.createSourceFile(name, text, settings.target) : type_file(read, wanted, ...more);
  const program = ts.createProgram([name], settings, host);
  return ts.getPreEmitDiagnostics(program).map((found) => {
    const place = places.filter((p) => p.begin <= (found.start ?? 0)).pop();
    const line = found.file ? text.slice(0, found.start).split("\n").length - 1 : -1;
    const near = line < 0 ? "" : ` (at ${text.split("\n")[line].trim().slice(0, 60)})`;
    const what = ts.flattenDiagnosticMessageText(found.messageText, "\n    ");
    return `${place?.where || "dashboard"}: ${what}${near}`;
  });
}

if (process.argv.length < 3) {
  console.error("Usage: grafana DASHBOARD.json...");
  process.exit(2);
}
let status = 0;
for (const file of process.argv.slice(2)) {
  for (const complaint of check(file)) {
    console.log(`${file}: ${complaint}`);
    status = 1;
  }
}
process.exit(status);
