use gambeson_lowrank::*; use gambeson_lowrank::bound::*; use gambeson_lowrank::problem::*;
fn main(){
 let m=random::positive_semidefinite(2,0,1); println!("{:?}",m.entries);
 let p=Problem::new(matrix::Matrix::Dense(m),input::InputKind::Matrix,Norm::Quadratic,Reading::Plain,None,1).unwrap();
 let mut obs=|pr:&observe::Progress| { if pr.iteration%10==0 || pr.iteration<5 {println!("{pr:?}");} std::ops::ControlFlow::Continue(()) };
 let b=bracket(&p,&BoundParams::default(),&mut obs).unwrap();
 println!("{} {} {} {:?} {:?}",b.upper.value(),b.sdp_lower.value(),b.lower.value(),b.stop,b.certificate);
 let a=matrix::DenseMatrix{rows:1,columns:5,entries:vec![0.3,-1.0,0.5,0.2,0.7]};
 let p=Problem::new(matrix::Matrix::Dense(a),input::InputKind::Matrix,Norm::InfToOne,Reading::Plain,None,1).unwrap();
 let b=bracket(&p,&BoundParams::default(),&mut obs).unwrap();
 println!("{} {} {} {:?} {:?}",b.upper.value(),b.sdp_lower.value(),b.lower.value(),b.stop,b.certificate);
}
