//! The style of figures, in addition to that of all pages.
//!
//! Pictures stretch to the width that they have; their labels are text of the page, and keep its
//! size. On paper, figures are not broken over pages, colours are printed, and tables that are
//! closed on the screen are left out.

/// The style sheet.
pub(super) const STYLE: &str = ".figure{margin:1.6rem 0 2rem}figcaption{max-width:48rem}figcaption b{color:#1c2733}\
    *{-webkit-print-color-adjust:exact;print-color-adjust:exact}\
    h2,h3{scroll-margin-top:.5rem}h3{font-size:1rem;margin:1.6rem 0 .2rem}\
    nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;padding:0}a{color:#0b5a94}\
    :focus-visible{outline:3px solid #d55e00;outline-offset:2px}\
    .plot{display:grid;grid-template-columns:4.4rem minmax(0,1fr);margin:.5rem 0 .2rem;font-size:.8rem;line-height:1.2}\
    .plot>svg{width:100%;border-left:1px solid #8a96a3;border-bottom:1px solid #8a96a3;overflow:visible}\
    .usual>svg{height:16rem}.low>svg{height:11rem}.high>svg{height:26rem}\
    .ys{position:relative}.ys span{position:absolute;right:.4rem;transform:translateY(50%);white-space:nowrap}\
    .xs{grid-column:2;position:relative;height:1.5rem}\
    .xs span{position:absolute;top:.25rem;transform:translateX(-50%);white-space:nowrap}\
    .xs .first{transform:none}.xs .last{transform:translateX(-100%)}\
    .x{grid-column:2;text-align:right;color:#4a5866}\
    .legend{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;list-style:none;padding:0;margin:.4rem 0;font-size:.85rem}\
    .legend li{overflow-wrap:anywhere}.key{margin-right:.4rem;vertical-align:-1px;max-width:none}\
    .bars{display:grid;grid-template-columns:fit-content(12rem) minmax(4rem,1fr) max-content;column-gap:.6rem;\
    align-items:stretch;font-size:.85rem;line-height:1.3;margin:.4rem 0}\
    .bars svg{width:100%;height:100%;min-height:1.4rem}.n{text-align:right;overflow-wrap:anywhere;padding:.1rem 0}\
    .v{font-variant-numeric:tabular-nums;padding:.1rem 0}\
    .bars.above{grid-template-columns:minmax(4rem,1fr) max-content}\
    .above .n{grid-column:1/-1;text-align:left;padding:.4rem 0 0}.above svg{min-height:1rem}\
    .multiples,.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:.4rem 2rem}\
    .pair{grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr))}.multiples .figure,.pair .figure{margin:.8rem 0}\
    .multiples>*,.pair>*{min-width:0}.of{font-weight:600;font-size:.9rem;margin:.6rem 0 0}\
    details{margin:.4rem 0;font-size:.9rem}summary{cursor:pointer;color:#0b5a94;width:fit-content}\
    details .wide{max-height:24rem;overflow-y:auto}\
    .long td{vertical-align:top}.long td.text{white-space:normal;overflow-wrap:anywhere}\
    .long td:nth-child(2){min-width:min(18rem,50vw)}\
    @media(max-width:40rem){.bars{grid-template-columns:fit-content(6.5rem) minmax(3rem,1fr) fit-content(8.5rem);\
    column-gap:.4rem;font-size:.8rem}.plot{grid-template-columns:3.9rem minmax(0,1fr);font-size:.75rem}.high>svg{height:20rem}}\
    @page{margin:14mm}@media print{html{font-size:12px}body{max-width:none;margin:0;padding:0;font-size:.85rem}\
    .figure{margin:.8rem 0 1rem}.usual>svg{height:13rem}.low>svg{height:8rem}.high>svg{height:20rem}.bars svg{min-height:1rem}\
    .figure,tr,.multiples>*,li{break-inside:avoid}\
    h2,h3,figcaption,.of{break-after:avoid}details:not([open]),nav{display:none}details .wide{max-height:none}\
    .wide{overflow:visible;background:none}table{font-size:7.5pt}td,th{padding:.15rem .3rem}\
    td:first-child,th:first-child{position:static;max-width:none}.pair{grid-template-columns:1fr 1fr}}";
