//! Real outputs keep to the committed schemas.

use surefit_testkit::{broken, schema};

use crate::quick::{REPORTS, quick};

#[test]
fn every_report_keeps_to_the_schema() {
    let schema = schema("experiment.json");
    for name in REPORTS {
        let report = quick().report(name);
        assert_eq!(broken(&schema, &schema, &report, name), None);
    }
}
