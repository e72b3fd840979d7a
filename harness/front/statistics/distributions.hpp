// These distributions calculate in double. Boost's default is long double, which takes longer to compile and is more
// exact than the measured values.
#pragma once

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace allocbench::front {

using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using StudentsT = boost::math::students_t_distribution<double, InDouble>;
using Binomial = boost::math::binomial_distribution<double, InDouble>;

}  // namespace allocbench::front
